import { clockTime } from '@pawl/present/amount';
import { useAgents, useEvents } from '../app/answers.ts';
import { Loaded, Title } from '../parts/basic.tsx';
import { line } from '../parts/foreign-text.tsx';

/** The newest events of the log, newest first. */
export function EventsPage() {
  const events = useEvents();
  const names = new Map(useAgents().data?.agents.map(({ id, alias }) => [id, alias]));
  return (
    <>
      <Title>Events</Title>
      <Loaded answer={events}>
        {({ events: list }) => (
          <ol className="px-4 py-2 font-mono text-xs leading-5">
            {list.toReversed().map(({ seq, at, type, agentId, data }) => (
              <li key={seq} className="grid grid-cols-[5rem_12rem_1fr] gap-2 max-sm:grid-cols-[5rem_1fr]">
                <span className="text-muted">{clockTime(at)}</span>
                <span className="truncate">{type}</span>
                <span className="truncate text-muted max-sm:col-span-2">
                  {names.get(agentId ?? '') ?? ''} {line(JSON.stringify(data), 400)}
                </span>
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </>
  );
}
