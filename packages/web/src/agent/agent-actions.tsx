import type { AgentView } from '@pawl/protocol/agents/view';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { client } from '../app/client.ts';
import { Button, Failure, fieldLook } from '../parts/basic.tsx';

/** Stop, kill and fork. Killing asks first. */
export function AgentActions({ agent }: { agent: AgentView }) {
  const queries = useQueryClient();
  const refresh = () =>
    Promise.all(['agent', 'agents', 'inbox'].map((kind) => queries.invalidateQueries({ queryKey: [kind] })));
  const stop = useMutation({ mutationFn: () => client.stopAgent(agent.id), onSettled: refresh });
  const kill = useMutation({ mutationFn: () => client.killAgent(agent.id, {}), onSettled: refresh });
  const [forking, setForking] = useState(false);
  const question = useRef<HTMLDialogElement>(null);
  if (agent.status !== 'running' || agent.parentId === null || agent.adopted !== null) return null;
  return (
    <>
      <Button disabled={agent.run?.status !== 'running' || stop.isPending} onClick={() => stop.mutate()}>
        {stop.isPending ? 'Stopping…' : 'Stop'}
      </Button>
      <Button onClick={() => setForking(!forking)} aria-expanded={forking}>
        Fork
      </Button>
      <Button look="danger" disabled={kill.isPending} onClick={() => question.current?.showModal()}>
        Kill
      </Button>
      <dialog
        ref={question}
        aria-labelledby="kill-question"
        className="m-auto max-w-sm rounded-lg border border-line bg-ground p-4 text-ink backdrop:bg-black/40"
      >
        <p id="kill-question">Kill {agent.alias}? Its history and its commits are kept; it cannot be resumed.</p>
        <form method="dialog" className="mt-3 flex justify-end gap-2">
          <Button type="submit">Cancel</Button>
          <Button type="submit" look="danger" onClick={() => kill.mutate()}>
            Kill {agent.alias}
          </Button>
        </form>
      </dialog>
      {forking && <ForkForm agent={agent} />}
      {[stop.error, kill.error].map((error) => error !== null && <Failure key={error.message} error={error} />)}
    </>
  );
}

function ForkForm({ agent }: { agent: AgentView }) {
  const navigate = useNavigate();
  const [prompt, setPrompt] = useState('');
  const fork = useMutation({
    mutationFn: () =>
      client.fork(agent.id, prompt.trim() === '' ? { switch: false } : { prompt, switch: false }, crypto.randomUUID()),
    onSuccess: ({ agent: child }) => navigate({ to: '/agents/$id', params: { id: child.id } }),
  });
  return (
    <form
      className="flex w-full flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        fork.mutate();
      }}
    >
      {fork.error !== null && <Failure error={fork.error} />}
      <textarea
        className={fieldLook}
        rows={2}
        value={prompt}
        onChange={(event) => setPrompt(event.target.value)}
        placeholder="The child’s first message; it knows all that its parent knows"
        aria-label="First message of the child"
      />
      <Button type="submit" look="main" className="self-end" disabled={fork.isPending}>
        {fork.isPending ? 'Forking…' : `Fork ${agent.alias}`}
      </Button>
    </form>
  );
}
