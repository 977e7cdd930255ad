import { keepStateFile } from '@pawl/daemon/agents/state-file';
import type { Agent } from '@pawl/schema/record';
import { updateAgent } from '@pawl/store/agents/agents';
import { insertRun } from '@pawl/store/sessions/runs';
import { insertSession } from '@pawl/store/sessions/sessions';
import { git } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { openMailHome } from '../support/mail-home.ts';
import { runRecord, sessionRecord } from '../support/records.ts';
import { outputHas } from '../support/output.ts';

type State = { repos: Record<string, { agents: Record<string, Record<string, unknown>> }> };

test('state.json lists the agents for other programs, and follows each change [S4-25, S4-26]', async () => {
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

test('state.json has every field of each living agent, from current facts [S4-25, S4-29]', async () => {
  await using place = await openMailHome();
  const { platform, store, home, fox, owl, elk } = place;
  const run = runRecord({ agentId: fox.id, projectId: fox.projectId ?? '' });
  await store.write(async (tx) => {
    await insertRun(tx, run);
    await insertSession(
      tx,
      sessionRecord(run, { no: 7, providerSessionId: 'conversation-7', pid: 4711, processStart: 'b/1' }),
    );
    await updateAgent(tx, fox.id, {
      assignment: 'mend the fence',
      completion: { at: 1, summary: null, failure: null },
    });
    await updateAgent(tx, elk.id, { endedAt: 2, endReason: 'killed' });
    await tx.db.updateTable('agents').set({ worktree: '/w/calm-fox' }).where('id', '=', fox.id).execute();
  });
  await keepStateFile({ ...platform, environment: {}, repositories: new Map(), startedAt: 1 }).close();
  const resting = { worktree_path: null, session_id: null, pid: null, task: '', ready_for_cleanup: false };
  const common = ({ definition, createdAt }: Agent) => ({
    type: definition,
    tmux_window: null,
    created_at: new Date(createdAt).toISOString(),
  });
  expect(JSON.parse(readFileSync(home.state, 'utf8'))).toEqual({
    repos: {
      shop: {
        github_url: null,
        tmux_session: null,
        agents: {
          'calm-fox': {
            ...common(fox),
            worktree_path: '/w/calm-fox',
            session_id: 'conversation-7',
            pid: 4711,
            task: 'mend the fence',
            ready_for_cleanup: true,
          },
          'old-owl': { ...common(owl), ...resting },
        },
      },
    },
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

test('a broken state.json is moved aside and rewritten [7.8, S4-31, W4-20]', async () => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, 'state.json'), '{"repos": {');
  await using daemon = await startTestDaemon({ home });
  await waitUntil(() => existsSync(daemon.home.state), { what: 'a new one' });
  expect(JSON.parse(readFileSync(daemon.home.state, 'utf8'))).toMatchObject({ repos: {} });
  expect(readdirSync(home).filter((name) => name.startsWith('state.json.broken-'))).toHaveLength(1);
});
