import { activityOf, costOf, runDuration, stateOf, taskOf } from '@pawl/present/agents/agent-text';
import { ago, count } from '@pawl/present/amount';
import { agentTone, changeTone } from '@pawl/present/state-tone';
import { Link } from '@tanstack/react-router';
import { agentsIn, isIn, useAgents, useChanges } from '../app/answers.ts';
import { useProject } from '../app/project-choice.tsx';
import { useNow } from '../app/use-now.ts';
import { Empty, Loaded, Title } from '../parts/basic.tsx';
import { line } from '../parts/foreign-text.tsx';
import { Mark } from '../parts/mark.tsx';
import type { Card } from './columns.ts';
import { columnsOf } from './columns.ts';

export function BoardPage() {
  const agents = useAgents();
  const changes = useChanges();
  const project = useProject();
  const now = useNow();
  return (
    <Loaded answer={agents}>
      {(list) => (
        <Loaded answer={changes}>
          {(all) => {
            const columns = columnsOf(
              agentsIn(list.agents, project),
              all.changes.filter((change) => isIn(project, change.project)),
            );
            return (
              <>
                <Title aside={<span className="text-sm text-muted">{count(columns.idle, 'idle agent')}</span>}>
                  Board
                </Title>
                <div className="grid gap-3 p-3 sm:grid-cols-2 xl:grid-cols-4">
                  <Column
                    title="Working"
                    cards={columns.working}
                    now={now}
                    empty="Nobody works now."
                    command={'pawl work "…"'}
                  />
                  <Column title="Needs you" cards={columns.needsYou} now={now} empty="Nothing waits for you." />
                  <Column title="In check" cards={columns.inCheck} now={now} empty="No change is open." />
                  <Column title="Merged" cards={columns.merged} now={now} empty="Nothing was merged yet." />
                </div>
              </>
            );
          }}
        </Loaded>
      )}
    </Loaded>
  );
}

type ColumnProps = { title: string; cards: Card[]; now: number; empty: string; command?: string };

function Column({ title, cards, now, empty, command }: ColumnProps) {
  return (
    <section className="min-w-0 rounded-lg bg-raised">
      <h2 className="px-3 pt-2 text-xs font-semibold tracking-wide text-muted uppercase">
        {title} <span className="tabular-nums">{cards.length}</span>
      </h2>
      {cards.length === 0 ? (
        <Empty {...(command === undefined ? {} : { command })}>{empty}</Empty>
      ) : (
        <ul className="flex flex-col gap-2 p-2">
          {cards.map((card) => (
            <li key={card.is === 'agent' ? card.agent.id : card.change.id}>
              {card.is === 'agent' ? <AgentCard {...card} now={now} /> : <ChangeCard {...card} now={now} />}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const cardLook = 'block rounded-md border border-line bg-ground px-3 py-2 hover:border-accent';

function AgentCard({ agent, now }: Extract<Card, { is: 'agent' }> & { now: number }) {
  const state = stateOf(agent);
  return (
    <Link to="/agents/$id" params={{ id: agent.id }} className={cardLook}>
      <span className="flex items-center gap-2">
        <span className="truncate font-medium">{agent.alias}</span>
        <span className="ml-auto">
          <Mark tone={agentTone(state)}>{state}</Mark>
        </span>
      </span>
      <span className="line-clamp-2 text-sm">{line(taskOf(agent))}</span>
      <span className="block truncate text-xs text-muted">{line(activityOf(agent))}</span>
      <span className="mt-1 flex gap-3 text-xs text-muted tabular-nums">
        <span>{runDuration(agent, now)}</span>
        <span>{costOf(agent)}</span>
        <span className="ml-auto truncate">{agent.project?.name}</span>
      </span>
    </Link>
  );
}

function ChangeCard({ change, now }: Extract<Card, { is: 'change' }> & { now: number }) {
  return (
    <Link to="/changes/$id" params={{ id: change.id }} className={cardLook}>
      <span className="flex items-center gap-2">
        <Mark tone={changeTone(change.state)}>{change.state}</Mark>
        <span className="ml-auto text-xs whitespace-nowrap text-muted">
          {ago(Math.max(0, now - (change.mergedAt ?? change.openedAt)))}
        </span>
      </span>
      <span className="line-clamp-2 text-sm font-medium">{line(change.title)}</span>
      <span className="block truncate text-xs text-muted">{line(change.detail)}</span>
      <span className="mt-1 flex gap-3 text-xs text-muted">
        <span>{change.author?.alias ?? 'a person'}</span>
        <span className="ml-auto truncate">{change.project.name}</span>
      </span>
    </Link>
  );
}
