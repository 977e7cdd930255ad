import { ago } from '@pawl/present/amount';
import { changeTone } from '@pawl/present/state-tone';
import type { ChangeView } from '@pawl/protocol/changes/view';
import { Link } from '@tanstack/react-router';
import { isIn, useChanges } from '../app/answers.ts';
import { useProject } from '../app/project-choice.tsx';
import { useNow } from '../app/use-now.ts';
import { Empty, Loaded, Section, Title } from '../parts/basic.tsx';
import { line } from '../parts/foreign-text.tsx';
import { Mark } from '../parts/mark.tsx';

export function ChangesPage() {
  const changes = useChanges();
  const project = useProject();
  return (
    <>
      <Title>Changes</Title>
      <Loaded answer={changes}>
        {({ changes: all }) => {
          const own = all.filter((change) => isIn(project, change.project));
          const isOver = ({ mergedAt, closedAt }: ChangeView) => mergedAt !== null || closedAt !== null;
          const over = own.filter(isOver);
          if (own.length === 0)
            return (
              <Empty command="pawl change open">There is no change. Agents propose them when they are done; or:</Empty>
            );
          return (
            <>
              <ChangeRows changes={own.filter((change) => !isOver(change))} />
              {over.length > 0 && (
                <Section title="Merged and closed">
                  <ChangeRows changes={over} />
                </Section>
              )}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

export function ChangeRows({ changes, numbered = false }: { changes: ChangeView[]; numbered?: boolean }) {
  const now = useNow();
  if (changes.length === 0) return <p className="px-4 py-4 text-muted">No change is open.</p>;
  return (
    <ol className="divide-y divide-line">
      {changes.map((change, index) => (
        <li key={change.id}>
          <Link
            to="/changes/$id"
            params={{ id: change.id }}
            className="grid grid-cols-[1fr_auto] items-baseline gap-x-3 px-4 py-2 hover:bg-hover sm:grid-cols-[10rem_1fr_auto]"
          >
            <span className="flex gap-2">
              {numbered && <span className="text-sm text-muted tabular-nums">{index + 1}</span>}
              <Mark tone={changeTone(change.state)}>{change.state}</Mark>
            </span>
            <span className="order-last col-span-2 min-w-0 sm:order-none sm:col-span-1">
              <span className="block truncate font-medium">{line(change.title)}</span>
              {change.detail !== '' && <span className="block truncate text-sm text-muted">{line(change.detail)}</span>}
            </span>
            <span className="text-xs whitespace-nowrap text-muted">
              {change.author?.alias ?? 'a person'} · {ago(Math.max(0, now - change.openedAt))}
            </span>
          </Link>
        </li>
      ))}
    </ol>
  );
}
