import { ago } from '@pawl/present/amount';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useSessions } from '../app/answers.ts';
import { client } from '../app/client.ts';
import { useNow } from '../app/use-now.ts';
import { Button, Command, Failure, Loaded, Section, Title } from '../parts/basic.tsx';
import { line } from '../parts/foreign-text.tsx';

/** The browsers that may act as the person. */
export function SettingsPage() {
  const sessions = useSessions();
  const queries = useQueryClient();
  const now = useNow();
  const revoke = useMutation({
    mutationFn: (id: string | undefined) => client.revokeWebSessions(id),
    onSettled: () => queries.invalidateQueries(),
  });
  return (
    <>
      <Title>Settings</Title>
      <Section title="Browsers with a session">
        {revoke.error !== null && <Failure error={revoke.error} />}
        <Loaded answer={sessions}>
          {({ sessions: list }) => (
            <ul className="flex flex-col gap-2">
              {list.map(({ id, browser, createdAt, usedAt, current }) => (
                <li
                  key={id}
                  className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md border border-line px-3 py-2 text-sm"
                >
                  <span className="min-w-0 flex-1 truncate" title={line(browser)}>
                    {line(browser) || 'unnamed browser'}
                  </span>
                  <span className="text-xs text-muted">
                    {current ? 'this browser' : `used ${ago(Math.max(0, now - usedAt))}`} · opened{' '}
                    {ago(Math.max(0, now - createdAt))}
                  </span>
                  <Button look="danger" disabled={revoke.isPending} onClick={() => revoke.mutate(id)}>
                    {current ? 'Sign out' : 'Revoke'}
                  </Button>
                </li>
              ))}
            </ul>
          )}
        </Loaded>
        <p className="mt-3 text-sm text-muted">
          Another browser gets in with <Command>pawl web</Command>. Everything else is set with{' '}
          <Command>pawl config</Command>.
        </p>
      </Section>
    </>
  );
}
