import { homeAt } from '@pawl/protocol/home';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readyDaemon, spawnDaemon } from './support/daemon-process.ts';

test('of daemons started at the same instant one wins and the others say so', async () => {
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

test('what a killed daemon left behind does not stop the next: socket, daemon.json with a stranger’s pid', async () => {
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

test('a frozen daemon keeps its home: the next one says so and leaves', async () => {
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

test('a port that is taken, a config that is wrong, a home that others can read: each refused with the way out', async () => {
  await using place = await temporaryDirectory();
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as AddressInfo;
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

test('a damaged database is moved aside and the backup restored, with a loud event', async () => {
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
