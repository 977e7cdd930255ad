import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client } from '../app/client.ts';
import { Button, Failure } from '../parts/basic.tsx';
import { line } from '../parts/foreign-text.tsx';

/** Requests the merge of a change, and says what the request leads to. */
export function MergeButton({ change }: { change: string }) {
  const queries = useQueryClient();
  const merge = useMutation({
    mutationFn: () => client.mergeChange(change),
    onSettled: () =>
      Promise.all(
        ['inbox', 'changes', 'change', 'queues'].map((kind) => queries.invalidateQueries({ queryKey: [kind] })),
      ),
  });
  if (merge.error !== null) return <Failure error={merge.error} again={() => merge.reset()} />;
  if (merge.data !== undefined)
    return (
      <p role="status" className="text-sm">
        {line(merge.data.note, 1_000)} {merge.data.warning !== null && <b>{line(merge.data.warning, 1_000)}</b>}
      </p>
    );
  return (
    <Button look="main" disabled={merge.isPending} onClick={() => merge.mutate()}>
      Merge
    </Button>
  );
}
