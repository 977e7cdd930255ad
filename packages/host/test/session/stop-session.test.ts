import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findSession } from '../../src/session/find-session.ts';
import type { ProcessIdentity } from '../../src/process/identity.ts';
import { haltSession } from '../../src/session/halt-session.ts';
import { isAlive } from '../../src/process/identity.ts';
import { processTable } from '../../src/process/process-table.ts';
import type { SessionSpec } from '../../src/session/start-session.ts';
import { startSession } from '../../src/session/start-session.ts';
import { stopSession } from '../../src/session/stop-session.ts';
import { strayProcesses } from '../../src/session/stray.ts';
import { eventually, host, textOf, useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();

/** Starts a session whose script says `ready` once it is set up. */
async function startReady(script: string): Promise<{ session: SessionSpec; identity: ProcessIdentity }> {
  const session = workspace.spec(script);
  const identity = await startSession(host, session);
  await eventually(() => textOf(session.dir, 'out').includes('ready'));
  return { session, identity };
}

async function stop(session: SessionSpec, identity: ProcessIdentity | null, graceMs = 10_000) {
  const { dir, marker } = session;
  const result = await stopSession(host, { identity, dir, marker, graceMs });
  expect(strayProcesses(marker)).toEqual([]);
  return result;
}

test('a cooperative command exits on the first signal, and its exit code is recorded', async () => {
  const { session, identity } = await startReady(
    `trap 'echo bye; exit 4' TERM; echo ready; while :; do sleep 0.01; done`,
  );
  expect(await stop(session, identity)).toEqual({ killed: 0 });
  expect(textOf(session.dir, 'out')).toBe('ready\nbye\n');
  expect((await findSession(session.dir)).exit).toEqual({ code: 4 });
  expect(isAlive(identity)).toBe(false);
});

test('the first signal can be chosen', async () => {
  const { session, identity } = await startReady(`trap 'exit 3' INT; echo ready; while :; do sleep 0.01; done`);
  const { dir, marker } = session;
  expect(await stopSession(host, { identity, dir, marker, firstSignal: 'SIGINT' })).toEqual({ killed: 0 });
  expect((await findSession(dir)).exit).toEqual({ code: 3 });
});

test('a command that ignores TERM is killed after the grace period, and not before', async () => {
  const { session, identity } = await startReady(`trap '' TERM; echo ready; while :; do read x; done`);
  let timeMs = 0;
  let looks = 0;
  const now = () => {
    looks += 1;
    // The grace passes only when the command has had many chances to be killed too early.
    if (looks === 40) timeMs = 60_000;
    else if (looks < 40) expect(isAlive(identity)).toBe(true);
    return timeMs;
  };
  const { dir, marker } = session;
  expect(await stopSession(host, { identity, dir, marker, graceMs: 60_000, now })).toEqual({ killed: 1 });
  expect((await findSession(dir)).exit).toEqual({ code: 137 });
});

test('grandchildren, setsid children and double-forked daemons that ignore TERM: none is left [5.2.12]', async () => {
  const { session, identity } = await startReady(`
    trap '' TERM
    (sleep 600 & sleep 600) &
    setsid sh -c 'sleep 600 & exec sleep 600' &
    (setsid sh -c '(exec sleep 600 </dev/null >/dev/null 2>&1) & exit' &)
    (env -i /bin/sleep 600 &)
    echo ready
    while :; do sleep 0.01; done`);
  // The whole of it: the command line of a shell that is about to become a sleeper ends like one's, too.
  const isSleeper = (pid: number) =>
    ['sleep', '/bin/sleep'].includes(textOf(`/proc/${pid}`, 'cmdline').split('\u0000600\u0000').join(''));
  const before = await eventually(() => {
    const sleepers = strayProcesses(session.marker, identity).filter(({ pid }) => isSleeper(pid));
    return sleepers.length === 5 ? sleepers : null;
  });
  const groups = new Set(before.map(({ group }) => group));
  expect(groups.size).toBe(3);
  const isBare = ({ pid, group }: { pid: number; group: number }) =>
    group === identity.pid && isSleeper(pid) && !before.some((entry) => entry.pid === pid);
  await eventually(() => processTable.list().some(isBare));
  const { killed } = await stop(session, identity, 50);
  expect(killed).toBeGreaterThanOrEqual(6);
  const survivors = processTable.list().filter(({ group, defunct }) => !defunct && groups.has(group));
  expect(survivors).toEqual([]);
  expect((await findSession(session.dir)).exit).toEqual({ code: 137 });
});

test('a killed shim: the orphans are found and ended, and its helpers do not use up the grace period', async () => {
  const { session, identity } = await startReady('setsid sleep 600 & echo ready; exec sleep 600');
  process.kill(identity.pid, 'SIGKILL');
  await eventually(() => !isAlive(identity));
  expect(strayProcesses(session.marker).length).toBeGreaterThanOrEqual(2);
  expect(await stop(session, identity)).toEqual({ killed: 0 });
});

test('a killed shim whose command cleared its environment: the recorded child is ended', async () => {
  const session = workspace.spec('', { command: 'env', args: ['-i', '/bin/sleep', '600'], stdin: 'file' });
  const identity = await startSession(host, session);
  const pid = await eventually(async () => {
    const { childPid } = await findSession(session.dir);
    const runs = readFileSync(`/proc/${childPid ?? 'self'}/cmdline`, 'latin1').startsWith('/bin/sleep');
    return runs ? childPid : null;
  });
  process.kill(identity.pid, 'SIGKILL');
  await eventually(() => !isAlive(identity));
  expect(strayProcesses(session.marker)).toEqual([]);
  await stop(session, identity);
  expect(processTable.read(pid)?.defunct ?? true).toBe(true);
});

test('without a known shim, processes with the marker are ended', async () => {
  const { session, identity } = await startReady('echo ready; exec sleep 600');
  await stop(session, null);
  expect(isAlive(identity)).toBe(false);
});

test('a paused command is continued, so that it can handle the signal', async () => {
  const { session, identity } = await startReady(`trap 'exit 6' TERM; echo ready; while :; do sleep 0.01; done`);
  const childPid = await eventually(async () => (await findSession(session.dir)).childPid);
  process.kill(childPid, 'SIGSTOP');
  await eventually(() => processTable.read(childPid)?.stopped);
  expect(await stop(session, identity)).toEqual({ killed: 0 });
  expect((await findSession(session.dir)).exit).toEqual({ code: 6 });
});

test('a paused session can be stopped: all of it handles the signal', async () => {
  const { session, identity } = await startReady(`
    trap 'exit 6' TERM
    setsid sh -c 'trap "echo bye; exit" TERM; echo more; while :; do sleep 0.01; done' &
    while ! grep -q more ${JSON.stringify(join(workspace.root, 'session 0', 'out'))}; do sleep 0.01; done
    echo ready; while :; do sleep 0.01; done`);
  const { dir, marker } = session;
  expect((await haltSession(host, { identity, dir, marker })).halted).toBeGreaterThanOrEqual(2);
  expect(await stop(session, identity)).toEqual({ killed: 0 });
  expect(textOf(dir, 'out')).toContain('bye');
  expect((await findSession(dir)).exit).toEqual({ code: 6 });
});

test('many sessions are stopped concurrently: each with its exit code, and no others', async () => {
  const other = await startReady('echo ready; exec sleep 600');
  const started = [];
  for (let number = 0; number < 30; number += 1) {
    started.push(await startReady(`trap 'exit ${number}' TERM; echo ready; while :; do sleep 0.05; done`));
  }
  await Promise.all(started.map(({ session, identity }) => stop(session, identity)));
  const exits = await Promise.all(started.map(async ({ session }) => (await findSession(session.dir)).exit?.code));
  expect(exits).toEqual(started.map((_, number) => number));
  expect(isAlive(other.identity)).toBe(true);
  expect((await findSession(other.session.dir)).childPid).not.toBe(null);
});

test('a paused shim is killed when the others are gone, and does not hang the stop', async () => {
  const { session, identity } = await startReady('echo ready; exec sleep 600');
  process.kill(identity.pid, 'SIGSTOP');
  await eventually(() => processTable.read(identity.pid)?.stopped);
  let timeMs = 0;
  const { dir, marker } = session;
  await stopSession(host, { identity, dir, marker, graceMs: 5_000, now: () => (timeMs += 400) });
  expect(strayProcesses(marker)).toEqual([]);
  expect(isAlive(identity)).toBe(false);
});

test('strays that outlive the command are found after its end', async () => {
  const { session, identity } = await startReady('setsid sleep 600 & echo ready; exit 0');
  await eventually(async () => (await findSession(session.dir)).exit);
  await eventually(() => !isAlive(identity));
  await eventually(() => strayProcesses(session.marker, identity)[0]?.group !== identity.pid);
  expect(strayProcesses(session.marker, identity)).toHaveLength(1);
  expect(await stop(session, identity)).toEqual({ killed: 0 });
});

test('stopping twice, or at the very start, is harmless', async () => {
  for (let round = 0; round < 10; round += 1) {
    const session = workspace.spec('exec sleep 600', { prompt: 'x'.repeat(100_000) });
    const identity = await startSession(host, session);
    await Promise.all([stop(session, identity), stop(session, identity)]);
    expect(await stop(session, identity)).toEqual({ killed: 0 });
    expect((await findSession(session.dir)).exit?.code).toBe(143);
  }
});

test('other sessions are not touched', async () => {
  const [ours, other] = [
    await startReady('echo ready; exec sleep 600'),
    await startReady('echo ready; exec sleep 600'),
  ];
  await stop(ours.session, ours.identity);
  expect(isAlive(other.identity)).toBe(true);
  expect((await findSession(join(other.session.dir))).childPid).not.toBe(null);
});
