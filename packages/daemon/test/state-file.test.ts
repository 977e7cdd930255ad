import { git } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestDaemon } from './support/daemon.ts';
import { outputHas } from './support/output.ts';

type State = { repos: Record<string, { agents: Record<string, Record<string, unknown>> }> };

test('S4-25, S4-26: state.json tells other programs who there is, and follows each change', async () => {
  await using daemon = await startTestDaemon();
  const read = () => JSON.parse(readFileSync(daemon.home.state, 'utf8')) as State;
  const agent = await daemon.work([{ say: 'standing by' }, 'hang'], { alias: 'busy-bee' });
  await outputHas(daemon.client, agent.id, 'standing by');
  const { sessions } = await daemon.client.inspectAgent(agent.id);
  await waitUntil(() => read().repos['sample']?.agents['busy-bee']?.['pid'] === sessions[0]?.pid, { what: 'the pid' });
  expect(read().repos['sample']).toEqual({
    github_url: null,
    tmux_session: null,
    agents: {
      'busy-bee': {
        type: 'worker',
        worktree_path: agent.worktree,
        tmux_window: null,
        session_id: sessions[0]?.providerSessionId,
        pid: sessions[0]?.pid,
        created_at: new Date(agent.createdAt).toISOString(),
        task: 'a task',
        ready_for_cleanup: false,
      },
    },
  });
  expect(statSync(daemon.home.state).mode & 0o777).toBe(0o400);
  await daemon.client.killAgent(agent.id, {});
  await waitUntil(() => Object.keys(read().repos['sample']?.agents ?? {}).length === 0, {
    what: 'the dead to be gone',
  });
});

test.each([
  ['git@github.com:acme/tools.git', 'https://github.com/acme/tools'],
  ['https://ada:secret@github.com/acme/tools', 'https://github.com/acme/tools'],
  ['ssh://git@ssh.github.com:443/acme/tools.git', 'https://github.com/acme/tools'],
  ['https://gitlab.example/acme/tools.git', null],
  ['/srv/git/tools.git', null],
])('the remote %s is shown as %s [S4-25]', async (address, url) => {
  await using daemon = await startTestDaemon();
  await git(daemon.repository, ['remote', 'add', 'origin', address]);
  await daemon.client.addTask({ path: daemon.repository, name: 'so that something happens' });
  const read = () => readFileSync(daemon.home.state, 'utf8');
  const shown = () => (JSON.parse(read()) as { repos: Record<string, { github_url: unknown }> }).repos['sample'];
  await waitUntil(() => shown() !== undefined && shown()?.github_url === url, { what: 'the address' });
  expect(read()).not.toContain('secret');
});

test('7.8: a broken state.json is put aside and written anew', async () => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, 'state.json'), '{"repos": {');
  await using daemon = await startTestDaemon({ home });
  await waitUntil(() => existsSync(daemon.home.state), { what: 'a new one' });
  expect(JSON.parse(readFileSync(daemon.home.state, 'utf8'))).toMatchObject({ repos: {} });
  expect(readdirSync(home).filter((name) => name.startsWith('state.json.broken-'))).toHaveLength(1);
});
