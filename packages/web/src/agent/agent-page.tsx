import { accessOf, activityOf, changeOf, costOf, projectOf, stateOf } from '@pawl/present/agents/agent-text';
import { count, duration, tokens } from '@pawl/present/amount';
import { agentTone } from '@pawl/present/state-tone';
import type { AgentView, Inspection } from '@pawl/protocol/agents/view';
import type { Run } from '@pawl/schema/record';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useAgent, useAgents, useInbox } from '../app/answers.ts';
import { useNow } from '../app/use-now.ts';
import { ReplyCard } from '../inbox/reply-card.tsx';
import { Loaded, Section, Title } from '../parts/basic.tsx';
import { ForeignText, line } from '../parts/foreign-text.tsx';
import { Mark } from '../parts/mark.tsx';
import { AgentActions } from './agent-actions.tsx';
import { MessageBox } from './message-box.tsx';
import { Transcript } from './transcript.tsx';
import { useTurns } from './use-turns.ts';

export function AgentPage() {
  const { id } = useParams({ from: '/agents/$id' });
  const inspection = useAgent(id);
  return <Loaded answer={inspection}>{(data) => <Agent key={data.agent.id} inspection={data} />}</Loaded>;
}

function Agent({ inspection }: { inspection: Inspection }) {
  const { agent, runs, sessions } = inspection;
  const turns = useTurns(agent.id, agent.run?.status === 'running');
  const [pinned, setPinned] = useState<string | null>(null);
  const state = stateOf(agent);
  const ofRun = new Set(sessions.filter(({ runId }) => runId === pinned).map(({ no }) => no));
  const shown = pinned === null ? turns : turns.filter(({ sessionNo }) => ofRun.has(sessionNo));
  return (
    <div className="flex h-full flex-col lg:flex-row">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <Title
          aside={
            <>
              <Mark tone={agentTone(state)}>{state}</Mark>
              <AgentActions agent={agent} />
            </>
          }
        >
          {agent.alias}
        </Title>
        <Transcript turns={shown} agent={agent} />
        <Waiting agentId={agent.id} />
        <MessageBox key={agent.id} agent={agent} />
      </div>
      <aside className="shrink-0 overflow-y-auto border-line max-lg:border-t lg:w-80 lg:border-l">
        <Facts agent={agent} />
        <Runs runs={runs} pinned={pinned} pin={setPinned} />
        <Children agentId={agent.id} />
      </aside>
    </div>
  );
}

/** What this agent asks the person, beside its transcript. */
function Waiting({ agentId }: { agentId: string }) {
  const items = useInbox().data?.items.filter(({ agent }) => agent.id === agentId) ?? [];
  if (items.length === 0) return null;
  return (
    <div className="max-h-[50vh] overflow-y-auto border-t-2 border-attention px-4 py-3">
      {items.map((item) => (
        <ReplyCard key={item.id} item={item} />
      ))}
    </div>
  );
}

function Facts({ agent }: { agent: AgentView }) {
  const rows: [string, string | null][] = [
    ['now', activityOf(agent)],
    ['project', projectOf(agent)],
    ['branch', agent.branch],
    ['definition', agent.definition],
    ['provider', [agent.provider, agent.model].filter((word) => word !== null).join(' · ') || null],
    ['access', accessOf(agent)],
    ['cost', costOf(agent)],
    ['tokens', agent.cost.tokens === null ? null : tokens(agent.cost.tokens)],
  ];
  return (
    <Section title="Assignment">
      {agent.assignment === null ? (
        <p className="text-muted">none</p>
      ) : (
        <ForeignText text={agent.assignment} className="text-sm" />
      )}
      <dl className="mt-3 grid grid-cols-[5.5rem_1fr] gap-x-2 gap-y-0.5 text-sm">
        {rows.map(([name, value]) =>
          value === null ? null : (
            <div key={name} className="contents">
              <dt className="text-muted">{name}</dt>
              <dd className="min-w-0 wrap-anywhere">{line(value)}</dd>
            </div>
          ),
        )}
        {agent.change !== null && (
          <div className="contents">
            <dt className="text-muted">change</dt>
            <dd>
              <Link to="/changes/$id" params={{ id: agent.change.id }} className="text-accent underline">
                {changeOf(agent)}
              </Link>
            </dd>
          </div>
        )}
      </dl>
    </Section>
  );
}

/** Every run. A pinned one stays in view when newer ones begin. */
function Runs({ runs, pinned, pin }: { runs: Run[]; pinned: string | null; pin(run: string | null): void }) {
  const now = useNow();
  return (
    <Section title="Runs" aside={count(runs.length, 'run')}>
      <ul className="flex flex-col gap-1">
        {runs.toReversed().map((run) => (
          <li key={run.id}>
            <button
              type="button"
              aria-pressed={pinned === run.id}
              onClick={() => pin(pinned === run.id ? null : run.id)}
              className="w-full rounded-md border border-line px-2 py-1 text-left text-sm hover:bg-hover aria-pressed:border-accent"
            >
              <span className="flex gap-2">
                <Mark tone={runTone(run)}>{run.outcome ?? 'running'}</Mark>
                <span className="ml-auto text-xs text-muted tabular-nums">
                  {duration((run.endedAt ?? now) - run.startedAt)}
                </span>
              </span>
              <span className="block truncate text-xs text-muted">{line(run.detail ?? run.task)}</span>
              {pinned === run.id && <span className="text-xs text-accent">pinned: only this run is shown</span>}
            </button>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function runTone({ outcome }: Run): 'good' | 'active' | 'bad' | 'muted' {
  if (outcome === null) return 'active';
  if (outcome === 'completed') return 'good';
  return outcome === 'failed' ? 'bad' : 'muted';
}

function Children({ agentId }: { agentId: string }) {
  const children = useAgents().data?.agents.filter(({ parentId }) => parentId === agentId) ?? [];
  if (children.length === 0) return null;
  return (
    <Section title="Children" aside={String(children.length)}>
      <ul className="flex flex-col gap-1 text-sm">
        {children.map((child) => (
          <li key={child.id} className="flex gap-2">
            <Link to="/agents/$id" params={{ id: child.id }} className="truncate text-accent underline">
              {child.alias}
            </Link>
            <span className="ml-auto">
              <Mark tone={agentTone(stateOf(child))}>{stateOf(child)}</Mark>
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
