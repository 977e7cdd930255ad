import { strayProcesses } from '@pawl/host/session/stray';
import { homeAt } from '@pawl/protocol/node/home';
import { sampleOf } from '@pawl/testing/endurance';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeScenario } from '../support/daemon.ts';
import { readyDaemon, spawnDaemon } from '../support/daemon-process.ts';
import { outputHas } from '../support/output.ts';

test('one of several daemons started at once wins, and the others say so [S4-31, W3-01, W4-02]', async () => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  const daemons = Array.from({ length: 4 }, () => spawnDaemon(home));
  const reports = await Promise.all(daemons.map((daemon) => daemon.report));
  const winners = daemons.filter((_, index) => reports[index] !== null && 'ready' in (reports[index] ?? {}));
  expect(winners).toHaveLength(1);
  for (const report of reports)
    if (report !== null && 'error' in report) expect(report.error.code).toBe('already_running');
  for (const daemon of daemons) if (daemon !== winners[0]) expect((await daemon.exited).code).toBe(4);
  expect((await winners[0]?.client.daemon())?.pid).toBe(winners[0]?.pid);
  await winners[0]?.kill('SIGTERM');
});

test('leftovers of a killed daemon do not block the next: socket, daemon.json with another pid [S4-31, W4-02]', async () => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  const stranger = spawn('sleep', ['300']);
  try {
    await (await readyDaemon(home)).kill();
    expect(existsSync(homeAt(home).socket)).toBe(true);
    writeFileSync(homeAt(home).daemonFile, JSON.stringify({ pid: stranger.pid, port: 1 }));
    const daemon = await readyDaemon(home);
    expect((await daemon.client.daemon()).pid).toBe(daemon.pid);
    await daemon.kill('SIGTERM');
    expect(stranger.exitCode).toBeNull();
    expect(existsSync(homeAt(home).socket)).toBe(false);
  } finally {
    stranger.kill('SIGKILL');
  }
});

test('a frozen daemon keeps its home: the next one says so and exits', async () => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  const frozen = await readyDaemon(home);
  frozen.child.kill('SIGSTOP');
  const second = spawnDaemon(home);
  expect(await second.report).toMatchObject({
    error: { code: 'already_running', message: expect.stringContaining(String(frozen.pid)) as string },
  });
  frozen.child.kill('SIGCONT');
  expect((await frozen.client.daemon()).pid).toBe(frozen.pid);
  await frozen.kill('SIGTERM');
});

test('a port in use, an invalid config, a home that others can read: each refused with the fix', async () => {
  await using place = await temporaryDirectory();
  const { port, server: taken } = await listenBelowEphemeral();
  const home = join(place.path, 'home');
  expect(await spawnDaemon(home, { env: { PAWL_PORT: String(port) } }).report).toMatchObject({
    error: { code: 'conflict', hint: expect.stringContaining('PAWL_PORT') as string },
  });
  taken.close();
  writeFileSync(join(home, 'config.yaml'), 'port: high\n');
  expect(await spawnDaemon(home).report).toMatchObject({
    error: { code: 'invalid_input', message: expect.stringContaining('port') as string },
  });
  writeFileSync(join(home, 'config.yaml'), `port: ${port}\n`);
  const daemon = await readyDaemon(home);
  expect((await daemon.client.daemon()).port).toBe(port);
  await daemon.kill('SIGTERM');
  const open = join(place.path, 'open');
  mkdirSync(open, { mode: 0o755 });
  expect(await spawnDaemon(open).report).toMatchObject({
    error: { code: 'forbidden', hint: expect.stringContaining('chmod 700') as string },
  });
  expect(statSync(open).mode & 0o777).toBe(0o755);
});

test('a damaged database is moved aside and the backup restored, with an event [S4-31, W4-20]', async () => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  const first = await readyDaemon(home);
  const { pid } = await first.client.daemon();
  expect(pid).toBe(first.pid);
  await first.kill('SIGTERM');
  const second = await readyDaemon(home);
  await second.kill('SIGTERM');
  const database = join(home, 'pawl.db');
  const bytes = readFileSync(database);
  writeFileSync(database, Buffer.concat([Buffer.alloc(4096, 'x'), bytes.subarray(4096)]), { mode: 0o600 });
  const third = await readyDaemon(home);
  const { events } = await third.client.events();
  const restored = events.filter((event) => event.type === 'store.restored');
  expect(restored).toHaveLength(1);
  expect(existsSync(String(restored[0]?.data['quarantined']))).toBe(true);
  expect(restored[0]?.data['backup']).not.toBeNull();
  await third.kill('SIGTERM');
});

test('a home behind a symbolic link is one home; unregistered data there is found and repaired', async () => {
  await using place = await temporaryDirectory();
  const real = join(place.path, 'real');
  const link = join(place.path, 'link');
  mkdirSync(real, { mode: 0o700 });
  symlinkSync(real, link);
  const repository = join(place.path, 'sample');
  await sampleRepository(repository);
  const daemon = await readyDaemon(link);
  try {
    await daemon.client.addProject({ path: repository });
    const scenario = await writeScenario(place.path, ['hang']);
    const { agent } = await daemon.client.work(
      { path: repository, task: 'x', provider: 'scripted', options: { scenario } },
      randomUUID(),
    );
    expect(agent.worktree?.startsWith(real)).toBe(true);
    const orphan = join(real, 'worktrees', 'sample', 'nobody');
    await git(repository, ['worktree', 'add', '--quiet', '-b', 'work/nobody', orphan]);
    mkdirSync(join(real, 'worktrees', 'sample', 'not-a-worktree'));
    await waitUntil(() => existsSync(agent.worktree ?? ''), { what: 'the worktree' });
    const { fixed } = await daemon.client.doctor({ repair: true });
    expect(fixed).toEqual([expect.stringContaining('nobody')]);
    expect(existsSync(agent.worktree ?? '')).toBe(true);
    expect(existsSync(join(real, 'worktrees', 'sample', 'not-a-worktree'))).toBe(true);
    await daemon.client.stopAgent(agent.id);
  } finally {
    await daemon.kill('SIGTERM');
  }
});

test('a session whose files are gone does not block the start; it ends, and its run continues', async () => {
  await using place = await temporaryDirectory();
  const { home, agent, session } = await killedDaemon(place.path);
  rmSync(session.directory, { recursive: true });
  const second = await readyDaemon(home);
  try {
    const next = await waitUntil(
      async () =>
        (await second.client.inspectAgent(agent.id, { worktree: false })).sessions.find(
          ({ no, pid }) => no === 2 && pid !== null,
        ),
      { what: 'the next session' },
    );
    expect(next.purpose).toBe('interrupted');
    expect(strayProcesses(session.id)).toEqual([]);
    await second.client.stopAgent(agent.id);
  } finally {
    await second.kill('SIGTERM');
  }
});

test('a deleted socket or token is restored', async () => {
  await using place = await temporaryDirectory();
  const home = homeAt(join(place.path, 'home'));
  const daemon = await readyDaemon(home.root);
  try {
    const token = readFileSync(home.token, 'utf8');
    rmSync(home.socket);
    rmSync(home.token);
    await waitUntil(() => existsSync(home.socket) && existsSync(home.token), { what: 'the door to be open again' });
    expect(readFileSync(home.token, 'utf8')).toBe(token);
    expect(statSync(home.token).mode & 0o777).toBe(0o600);
    expect((await daemon.client.daemon()).pid).toBe(daemon.pid);
  } finally {
    await daemon.kill('SIGTERM');
  }
});

test.each(sampleOf(['a directory', 'a FIFO', 'a link to itself', 'nothing'], 1))(
  'an output file that became %s does not block the start',
  async (what) => {
    await using place = await temporaryDirectory();
    const { home, agent, session } = await killedDaemon(place.path);
    const out = join(session.directory, 'out');
    rmSync(out);
    if (what === 'a directory') mkdirSync(out);
    if (what === 'a FIFO') execFileSync('mkfifo', [out]);
    if (what === 'a link to itself') symlinkSync(out, out);
    const second = await readyDaemon(home);
    try {
      expect((await second.client.stopAgent(agent.id)).agent.run?.status).toBe('cancelled');
      expect(strayProcesses(session.id)).toEqual([]);
    } finally {
      await second.kill('SIGTERM');
    }
  },
);

/** A server on a port outside the ephemeral range, so that it stays free when it is closed. */
async function listenBelowEphemeral(): Promise<{ port: number; server: Server }> {
  for (let port = 20_000 + (process.pid % 10_000); ; port += 1) {
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (isFree) return { port, server };
  }
}

/** A daemon that was killed while its agent was printing, and that agent with its session. */
async function killedDaemon(place: string) {
  const home = join(place, 'home');
  const repository = join(place, 'sample');
  await sampleRepository(repository);
  const first = await readyDaemon(home);
  await first.client.addProject({ path: repository });
  const scenario = await writeScenario(place, [{ say: 'standing by' }, 'hang']);
  const { agent } = await first.client.work(
    { path: repository, task: 'x', provider: 'scripted', options: { scenario } },
    randomUUID(),
  );
  await outputHas(first.client, agent.id, 'standing by');
  const { sessions } = await first.client.inspectAgent(agent.id);
  await first.kill();
  const [session] = sessions;
  if (session === undefined) throw new Error('the agent has no session');
  return { home, agent, session };
}
