import type { AgentView } from '@pawl/protocol/agents/view';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../app/client.ts';
import { Button, Failure, fieldLook } from '../parts/basic.tsx';

const draftName = (id: string) => `pawl-draft-${id}`;

/** The input of an agent. A draft stays with its agent, also after a reload. */
export function MessageBox({ agent }: { agent: AgentView }) {
  const queries = useQueryClient();
  const [text, setText] = useState(() => localStorage.getItem(draftName(agent.id)) ?? '');
  const change = (next: string) => {
    setText(next);
    if (next === '') localStorage.removeItem(draftName(agent.id));
    else localStorage.setItem(draftName(agent.id), next);
  };
  const tell = useMutation({
    mutationFn: (message: string) => client.tellAgent(agent.id, { message }, crypto.randomUUID()),
    onSuccess: () => change(''),
    onSettled: () => queries.invalidateQueries({ queryKey: ['agent', agent.id] }),
  });
  const send = () => {
    if (text.trim() !== '' && !tell.isPending) tell.mutate(text);
  };
  if (agent.status !== 'running')
    return (
      <p className="px-4 py-3 text-sm text-muted">
        {agent.alias} is {agent.status}: it takes no messages.
      </p>
    );
  return (
    <form
      className="flex flex-col gap-2 border-t border-line px-4 py-3"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {tell.error !== null && <Failure error={tell.error} />}
      <div className="flex items-end gap-2">
        <textarea
          className={fieldLook}
          rows={Math.min(8, Math.max(1, text.split('\n').length))}
          value={text}
          onChange={(event) => change(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
              event.preventDefault();
              send();
            }
          }}
          placeholder={`Message to ${agent.alias}`}
          title="Enter sends, Shift+Enter starts a new line"
          aria-label={`Message to ${agent.alias}`}
        />
        <Button type="submit" look="main" disabled={text.trim() === '' || tell.isPending}>
          Send
        </Button>
      </div>
    </form>
  );
}
