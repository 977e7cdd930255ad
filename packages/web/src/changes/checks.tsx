import { count, duration } from '@pawl/present/amount';
import { checkTone } from '@pawl/present/state-tone';
import type { CheckLog, CheckView } from '@pawl/protocol/checks/view';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../app/client.ts';
import { useNow } from '../app/use-now.ts';
import { Failure, Section } from '../parts/basic.tsx';
import { ForeignText, line } from '../parts/foreign-text.tsx';
import { Mark } from '../parts/mark.tsx';

/** How often the log of a running check is read again. */
const logMs = 1_500;

/** The checks of trees with a change; each opens its log. */
export function Checks({ change, checks }: { change: string; checks: CheckView[] }) {
  return (
    <Section title="Checks" aside={count(checks.length, 'check')}>
      <CheckRows checks={checks} load={(check) => client.changeLog(change, { check })} />
      {checks.length === 0 && <p className="text-sm text-muted">It was not checked yet.</p>}
    </Section>
  );
}

export function CheckRows({ checks, load }: { checks: CheckView[]; load(check: string): Promise<CheckLog> }) {
  const now = useNow();
  const [open, setOpen] = useState<string | null>(null);
  return (
    <ul className="flex flex-col gap-1">
      {checks.map((check) => (
        <li key={check.id} className="rounded-md border border-line text-sm">
          <button
            type="button"
            aria-expanded={open === check.id}
            onClick={() => setOpen(open === check.id ? null : check.id)}
            className="grid w-full grid-cols-[auto_1fr_auto] items-baseline gap-x-3 px-2 py-1 text-left hover:bg-hover"
          >
            <Mark tone={checkTone(check.outcome)}>{check.outcome}</Mark>
            <span className="truncate">
              {check.changes.length === 0 ? 'main' : `main + ${count(check.changes.length, 'change')}`}
              {check.detail !== '' && check.detail !== check.outcome && (
                <span className="text-muted">: {line(check.detail)}</span>
              )}
            </span>
            <span className="text-xs whitespace-nowrap text-muted tabular-nums">
              {check.counts !== null && `${count(check.counts.run, 'test')} · `}
              {duration(Math.max(0, (check.endedAt ?? now) - (check.startedAt ?? check.plannedAt)))}
            </span>
          </button>
          {open === check.id && <Log check={check} load={load} />}
        </li>
      ))}
    </ul>
  );
}

function Log({ check, load }: { check: CheckView; load(check: string): Promise<CheckLog> }) {
  const log = useQuery({
    queryKey: ['log', check.id, check.endedAt],
    queryFn: () => load(check.id),
    refetchInterval: check.endedAt === null ? logMs : false,
  });
  if (log.error !== null) return <Failure error={log.error} again={() => void log.refetch()} />;
  return (
    <div className="max-h-96 overflow-auto border-t border-line bg-raised p-2 font-mono text-xs">
      {log.data === undefined && 'Loading…'}
      {log.data !== undefined && log.data.leftOutBytes > 0 && (
        <p className="text-muted">({log.data.leftOutBytes} bytes before this are left out)</p>
      )}
      {log.data?.output.map(({ step, text }, index) => (
        // Steps have no id, and keep their order.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={index}>
          <p className="font-semibold">$ {line(step)}</p>
          <ForeignText text={text} />
        </div>
      ))}
    </div>
  );
}
