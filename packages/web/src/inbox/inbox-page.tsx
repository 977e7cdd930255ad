import { inboxTone, inboxWord } from '@pawl/present/inbox-text';
import { ago, count } from '@pawl/present/amount';
import type { Inbox, InboxEntry } from '@pawl/protocol/questions/view';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { isIn, useInbox } from '../app/answers.ts';
import { useProject } from '../app/project-choice.tsx';
import { useKeys } from '../app/use-keys.ts';
import { useNow } from '../app/use-now.ts';
import { Button, Command, Empty, Loaded, Title } from '../parts/basic.tsx';
import { ForeignText, line } from '../parts/foreign-text.tsx';
import { Mark } from '../parts/mark.tsx';
import { MergeButton } from '../changes/merge-button.tsx';
import type { Later } from './later.ts';
import { laterMs, nameOf, splitLater, storedLater, storeLater } from './later.ts';
import { ReplyCard } from './reply-card.tsx';

export function InboxPage() {
  const inbox = useInbox();
  const project = useProject();
  return (
    <>
      <Title>Inbox</Title>
      <Loaded answer={inbox}>
        {(data) => <Entries inbox={data} entries={data.entries.filter((entry) => isIn(project, entry.project))} />}
      </Loaded>
    </>
  );
}

function Entries({ inbox, entries }: { inbox: Inbox; entries: InboxEntry[] }) {
  const now = useNow();
  const [later, setLater] = useState<Later>(storedLater);
  const [chosen, setChosen] = useState<string | null>(null);
  const [open, setOpen] = useState<string | null>(null);
  const split = splitLater(entries, later, now);
  const names = split.now.map(nameOf);
  const at = chosen === null ? -1 : names.indexOf(chosen);
  const go = (step: number) => setChosen(names[Math.max(0, Math.min(names.length - 1, at + step))] ?? null);
  const putAside = (entry: InboxEntry, until: number) => {
    const next = { ...later, [nameOf(entry)]: until };
    setLater(next);
    storeLater(next);
  };
  const current = split.now[at];
  useKeys({
    j: () => go(1),
    k: () => go(-1),
    ArrowDown: () => go(1),
    ArrowUp: () => go(-1),
    Enter: () => setOpen(open === chosen ? null : chosen),
    z: () => current !== undefined && putAside(current, now + laterMs),
  });
  if (entries.length === 0)
    return <Empty command={'pawl work "what is to be done"'}>Nothing waits for you. Start something:</Empty>;
  return (
    <>
      <p className="hidden px-4 py-1.5 text-xs text-muted sm:block">
        {count(split.now.length, 'item')} · j and k move, Enter opens, z puts aside for an hour
      </p>
      <ul className="border-t border-line" aria-label="What waits for you">
        {split.now.map((entry) => (
          <Entry
            key={nameOf(entry)}
            entry={entry}
            inbox={inbox}
            now={now}
            isChosen={chosen === nameOf(entry)}
            isOpen={open === nameOf(entry)}
            toggle={() => {
              setChosen(nameOf(entry));
              setOpen(open === nameOf(entry) ? null : nameOf(entry));
            }}
            putAside={() => putAside(entry, now + laterMs)}
          />
        ))}
      </ul>
      {split.later.length > 0 && (
        <details className="px-4 py-3 text-sm">
          <summary className="text-muted">{count(split.later.length, 'item')} put aside</summary>
          <ul className="mt-2 flex flex-col gap-1">
            {split.later.map((entry) => (
              <li key={nameOf(entry)} className="flex items-center gap-2">
                <Mark tone={inboxTone(entry.kind)}>{inboxWord(entry.kind)}</Mark>
                <span className="truncate">{line(entry.text)}</span>
                <Button onClick={() => putAside(entry, 0)}>Bring back</Button>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

type EntryProps = {
  entry: InboxEntry;
  inbox: Inbox;
  now: number;
  isChosen: boolean;
  isOpen: boolean;
  toggle(): void;
  putAside(): void;
};

function Entry({ entry, inbox, now, isChosen, isOpen, toggle, putAside }: EntryProps) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    <li ref={row} className={`border-b border-line ${isChosen ? 'bg-hover' : ''}`}>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={toggle}
        className="grid w-full grid-cols-[1fr_auto] items-baseline gap-x-3 gap-y-0.5 px-4 py-2 text-left hover:bg-hover sm:grid-cols-[10rem_1fr_auto]"
      >
        <Mark tone={inboxTone(entry.kind)}>{inboxWord(entry.kind)}</Mark>
        <span className="order-last col-span-2 min-w-0 sm:order-none sm:col-span-1">
          <span className="block truncate font-medium">{line(entry.text)}</span>
          <span className="block truncate text-sm text-muted">{line(entry.detail)}</span>
        </span>
        <span className="text-right text-xs whitespace-nowrap text-muted">
          {[entry.agent?.alias, entry.project?.alias].filter((word) => word !== undefined).join(' · ')} ·{' '}
          {ago(Math.max(0, now - entry.since))}
        </span>
      </button>
      {isOpen && <Detail entry={entry} inbox={inbox} putAside={putAside} />}
    </li>
  );
}

function Detail({ entry, inbox, putAside }: { entry: InboxEntry; inbox: Inbox; putAside(): void }) {
  const item = inbox.items.find(({ id }) => id === entry.id);
  const [change] = entry.changes;
  return (
    <div className="flex flex-col gap-3 px-4 pt-1 pb-4 sm:pl-[11.75rem]">
      {item === undefined ? <ForeignText text={entry.detail} className="text-sm" /> : <ReplyCard item={item} />}
      <div className="flex flex-wrap items-center gap-2 text-sm">
        {entry.kind === 'ready' && change !== undefined && <MergeButton change={change} />}
        {change !== undefined && (
          <Link to="/changes/$id" params={{ id: change }} className="text-accent underline">
            Look at the change
          </Link>
        )}
        {entry.agent !== null && (
          <Link to="/agents/$id" params={{ id: entry.agent.id }} className="text-accent underline">
            Open {entry.agent.alias}
          </Link>
        )}
        <Button onClick={putAside}>Not now</Button>
      </div>
      {item === undefined && entry.kind !== 'ready' && entry.next.length > 0 && (
        <ul className="flex flex-col items-start gap-1">
          {entry.next.map((command) => (
            <li key={command}>
              <Command>{line(command, 1_000)}</Command>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
