import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findSession } from '../../src/session/find-session.ts';
import { isAlive } from '../../src/process/identity.ts';
import { processTable } from '../../src/process/process-table.ts';
import { startSession } from '../../src/session/start-session.ts';
import { stopSession } from '../../src/session/stop-session.ts';
import { eventually, exitCode, host, useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();

/** A shim's record of this process. */
function record(pid: number): string {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1');
  return `${pid}\n${boot}${readFileSync(`/proc/${pid}/stat`, 'latin1')}`;
}

test('an unknown directory has no session', async () => {
  const nothing = { identity: null, alive: false, childPid: null, exit: null, claimed: false };
  expect(await findSession(join(workspace.root, 'none'))).toEqual(nothing);
});

test('finds the shim and the command while they run, and the exit code afterwards', async () => {
  const session = workspace.spec('exec sleep 600');
  const identity = await startSession(host, session);
  const childPid = await eventually(async () => (await findSession(session.dir)).childPid);
  expect(await findSession(session.dir)).toEqual({ identity, alive: true, childPid, exit: null, claimed: true });
  expect(processTable.read(childPid)).toMatchObject({ parent: identity.pid, group: identity.pid });
  process.kill(childPid, 'SIGKILL');
  expect(await exitCode(session.dir)).toBe(137);
  await eventually(() => !isAlive(identity));
  expect(await findSession(session.dir)).toEqual({
    identity,
    alive: false,
    childPid: null,
    exit: { code: 137 },
    claimed: true,
  });
});

test('a killed shim: the command is still found, and no exit code is invented', async () => {
  const session = workspace.spec('exec sleep 600');
  const identity = await startSession(host, session);
  const childPid = await eventually(async () => (await findSession(session.dir)).childPid);
  process.kill(identity.pid, 'SIGKILL');
  await eventually(() => !isAlive(identity));
  expect(await findSession(session.dir)).toEqual({ identity, alive: false, childPid, exit: null, claimed: true });
});

test('a killed group: dead, claimed, and no exit code is invented', async () => {
  const session = workspace.spec('exec sleep 600');
  const identity = await startSession(host, session);
  process.kill(-identity.pid, 'SIGKILL');
  // The shim and its command die each in its own time.
  await eventually(async () => !isAlive(identity) && (await findSession(session.dir)).childPid === null);
  expect(await findSession(session.dir)).toEqual({ identity, alive: false, childPid: null, exit: null, claimed: true });
  expect(await startSession(host, session)).toEqual(identity);
});

test('a pid file that names another living process is neither adopted nor signalled [5.2.12]', async () => {
  const sleeper = spawn('sleep', ['600'], { stdio: 'ignore' });
  try {
    const pid = sleeper.pid ?? 0;
    const session = workspace.spec('echo ran');
    mkdirSync(session.dir);
    for (const name of ['pid', 'child']) writeFileSync(join(session.dir, name), record(pid));
    expect(await findSession(session.dir)).toMatchObject({ identity: null, childPid: null, claimed: true });
    await expect(startSession(host, session)).rejects.toMatchObject({ code: 'host_failed' });
    await stopSession(host, { identity: null, dir: session.dir, marker: session.marker, graceMs: 0 });
    // The same number with another start is what remains of a session after its pid was given to somebody else.
    const stale = { pid, start: `${processTable.read(pid)?.start ?? ''}9` };
    expect(isAlive(stale)).toBe(false);
    await stopSession(host, { identity: stale, dir: session.dir, marker: session.marker, graceMs: 0 });
    expect(sleeper.signalCode).toBe(null);
    expect(processTable.read(pid)).toMatchObject({ defunct: false });
  } finally {
    sleeper.kill('SIGKILL');
    await once(sleeper, 'exit');
  }
});

test("another session's files are not ours", async () => {
  const [ours, other] = [workspace.spec('exec sleep 600'), workspace.spec('exec sleep 600')];
  await startSession(host, other);
  await eventually(async () => (await findSession(other.dir)).childPid);
  mkdirSync(ours.dir);
  for (const name of ['pid', 'child']) copyFileSync(join(other.dir, name), join(ours.dir, name));
  expect(await findSession(ours.dir)).toMatchObject({ identity: null, alive: false, childPid: null, claimed: true });
});

test('a record of another boot is ignored', async () => {
  const session = workspace.spec('exec sleep 600');
  const identity = await startSession(host, session);
  const path = join(session.dir, 'pid');
  const text = readFileSync(path, 'latin1');
  rmSync(path);
  writeFileSync(path, text.replace(/\n[0-9a-f]{8}-/, '\n00000000-'));
  const found = await findSession(session.dir);
  expect(found).toMatchObject({ alive: false, claimed: true });
  expect(found.identity?.pid).toBe(identity.pid);
  expect(found.identity?.start).not.toBe(identity.start);
});

test.each([
  ['empty', ''],
  ['partial', '123'],
  ['cut in the stat line', `1234\n${'0'.repeat(8)}-0000-0000-0000-000000000000\n1234 (sh) S 1`],
  ['negative', '-1\nx\ny\n'],
  ['init', '1\nx\ny\n'],
  ['letters', 'abc\ndef\nghi\n'],
  ['not a number of ours', '99999999999\nx\ny\n'],
  ['binary', '\0\xff\xfe\n\0\n\0\n'],
  ['large', '7'.repeat(100_000)],
])('a pid file that is %s gives no identity', async (_name, text) => {
  const { dir } = workspace.spec(':');
  mkdirSync(dir);
  for (const name of ['pid', 'child', 'exit']) writeFileSync(join(dir, name), text, 'latin1');
  const found = await findSession(dir);
  expect(found).toEqual({ identity: null, alive: false, childPid: null, exit: null, claimed: true });
});

test('files that are directories or symlinks are not followed', async () => {
  const { dir } = workspace.spec(':');
  mkdirSync(join(dir, 'pid'), { recursive: true });
  symlinkSync('/etc/passwd', join(dir, 'child'));
  const code = join(workspace.root, 'code');
  writeFileSync(code, '0  \n');
  symlinkSync(code, join(dir, 'exit'));
  expect(await findSession(dir)).toMatchObject({ identity: null, exit: null, claimed: true });
});
