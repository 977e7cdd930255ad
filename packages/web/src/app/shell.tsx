import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useInbox, useProjects, useQueues } from './answers.ts';
import type { Live } from './live.ts';
import { useConnection } from './live.ts';
import { keepProject, ProjectChoice, readProject } from './project-choice.tsx';
import { SignedOut } from './signed-out.tsx';
import { useKeys } from './use-keys.ts';

const pages = [
  { to: '/', name: 'Inbox', key: 'i' },
  { to: '/board', name: 'Board', key: 'b' },
  { to: '/tree', name: 'Tree', key: 't' },
  { to: '/changes', name: 'Changes', key: 'c' },
  { to: '/queue', name: 'Queue', key: 'q' },
  { to: '/usage', name: 'Usage', key: 'u' },
  { to: '/events', name: 'Events', key: 'e' },
  { to: '/settings', name: 'Settings', key: 's' },
] as const;

/** The frame of all pages: navigation, project, connection. */
export function Shell({ live }: { live: Live }) {
  const connection = useConnection(live);
  const [project, setProject] = useState(readProject);
  if (connection === 'signed-out') return <SignedOut why={null} />;
  return (
    <ProjectChoice value={project}>
      <div className="flex h-full flex-col md:flex-row">
        <Navigation
          project={project}
          choose={(next) => {
            setProject(next);
            keepProject(next);
          }}
        />
        <main className="flex min-h-0 min-w-0 flex-1 flex-col overflow-y-auto">
          {connection === 'lost' && (
            <p role="status" className="bg-attention/15 px-4 py-1.5 text-sm text-attention">
              The daemon does not answer; trying again. What you see may be old. Start it with <code>pawl up</code>.
            </p>
          )}
          <Outlet />
        </main>
      </div>
    </ProjectChoice>
  );
}

function Navigation({ project, choose }: { project: string | null; choose(project: string | null): void }) {
  const navigate = useNavigate();
  const [isGoing, setGoing] = useState(false);
  const waiting = useInbox().data?.entries.length ?? 0;
  const queues = useQueues().data?.queues ?? [];
  const isRed = queues.some(({ emergency }) => emergency !== null);
  useEffect(() => {
    document.title = waiting === 0 ? 'Pawl' : `(${waiting}) Pawl`;
  }, [waiting]);
  useKeys({
    g: () => setGoing(true),
    ...(isGoing
      ? Object.fromEntries(
          pages.map(({ key, to }) => [
            key,
            () => {
              setGoing(false);
              void navigate({ to });
            },
          ]),
        )
      : {}),
  });
  return (
    <nav
      aria-label="Pages"
      className="flex shrink-0 items-center gap-0.5 overflow-x-auto border-line bg-raised px-2 py-1.5 max-md:border-b md:w-44 md:flex-col md:items-stretch md:border-r md:py-3"
    >
      <Projects project={project} choose={choose} />
      {pages.map(({ to, name, key }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: to === '/' }}
          title={`g ${key}`}
          className="flex items-center gap-2 rounded-md px-2.5 py-1 whitespace-nowrap text-muted hover:bg-hover hover:text-ink data-[status=active]:bg-hover data-[status=active]:font-medium data-[status=active]:text-ink"
        >
          {name}
          {to === '/' && waiting > 0 && (
            <span className="ml-auto rounded-full bg-accent px-1.5 text-xs font-semibold text-on-accent tabular-nums">
              {waiting}
            </span>
          )}
          {to === '/queue' && isRed && <span className="ml-auto text-xs font-semibold text-bad">red</span>}
        </Link>
      ))}
      {isGoing && <p className="px-2.5 text-xs text-muted max-md:hidden">g: {pages.map(({ key }) => key).join(' ')}</p>}
    </nav>
  );
}

function Projects({ project, choose }: { project: string | null; choose(project: string | null): void }) {
  const projects = useProjects().data?.projects ?? [];
  return (
    <select
      aria-label="Project"
      value={projects.some(({ id }) => id === project) ? (project ?? '') : ''}
      onChange={(event) => choose(event.target.value === '' ? null : event.target.value)}
      className="max-w-36 min-w-24 rounded-md border border-line bg-ground px-2 py-1 text-sm md:mb-2 md:max-w-none"
    >
      <option value="">all projects</option>
      {projects.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
