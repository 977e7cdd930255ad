import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findSession } from '../../src/session/find-session.ts';
import { continueSession, haltSession } from '../../src/session/halt-session.ts';
import { isAlive } from '../../src/process/identity.ts';
import { processTable } from '../../src/process/process-table.ts';
import type { SessionSpec } from '../../src/session/start-session.ts';
import { startSession } from '../../src/session/start-session.ts';
import { stopSession } from '../../src/session/stop-session.ts';
import { strayProcesses } from '../../src/session/stray.ts';
import { bashAsSh, eventually, exitCode, host, textOf, useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();

async function startReady(script: string, changes: Partial<SessionSpec> = {}) {
  const spec = workspace.spec(script, changes);
  const identity = await startSession(host, spec);
  await eventually(() => textOf(spec.dir, 'out').includes('ready'));
  return { identity, dir: spec.dir, marker: spec.marker };
}

/**
 * The pids of a session that are halted, and of those that run. A parent that waits inside the kernel until its halted
 * child becomes another program is halted with it.
 */
function statesOf(marker: string): { halted: number[]; running: number[] } {
  const { halted = [], running = [] } = Object.groupBy(strayProcesses(marker), ({ stopped, blocked }) =>
    stopped || blocked ? 'halted' : 'running',
  );
  return { halted: halted.map(({ pid }) => pid), running: running.map(({ pid }) => pid) };
}

/** True if several reads in a row find the file of a workspace unchanged. */
async function staysUnchanged(name: string): Promise<boolean> {
  const before = textOf(workspace.root, name);
  for (let look = 0; look < 10; look += 1) {
    await host.listings.next();
    if (textOf(workspace.root, name) !== before) return false;
  }
  return true;
}

test.each(['sh', 'bash'])('halts the agent and all its processes, but not its shim under %s', async (shell) => {
  const script = `(while :; do sleep 0.01; done) & setsid sleep 600 & (setsid sleep 600 &) ; echo ready; while :; do sleep 0.01; done`;
  const session = await startReady(script, { shell: shell === 'sh' ? '/bin/sh' : bashAsSh(workspace.root) });
  const other = await startReady('echo ready; exec sleep 600');
  const { halted } = await haltSession(host, session);
  const states = statesOf(session.marker);
  expect(states.halted).toHaveLength(halted);
  // The agent, its loop and two sleepers; perhaps what the loops run at the moment.
  expect(halted).toBeGreaterThanOrEqual(4);
  // The shim, which can record an exit, and the holder of the input.
  expect(states.running).toHaveLength(2);
  expect(states.running).toContain(session.identity.pid);
  expect(await haltSession(host, session)).toEqual({ halted });
  expect(strayProcesses(other.marker).filter(({ stopped }) => stopped)).toEqual([]);

  expect((await continueSession(host, session)).continued).toBeGreaterThanOrEqual(4);
  expect(strayProcesses(session.marker).filter(({ stopped }) => stopped)).toEqual([]);
  expect(await continueSession(host, session)).toEqual({ continued: 0 });
});

test('a command that keeps starting processes is paused, too, and continues where it was', async () => {
  // Each link of a chain starts the next one and ends, so a single scan misses the new ones.
  const script = join(workspace.root, 'chain.sh');
  writeFileSync(script, `echo x >>ticks; sleep 0.01; setsid sh chain.sh &\n`);
  const session = await startReady('for i in 1 2 3 4 5; do sh chain.sh & done; echo ready; exec sleep 600');
  const ticks = () => textOf(workspace.root, 'ticks').length;
  for (let round = 0; round < 5; round += 1) {
    const before = ticks();
    await eventually(() => ticks() > before + 20);
    // On a busy machine it takes as long as it takes: its clock does not advance.
    expect((await haltSession(host, session, () => 0)).halted).toBeGreaterThanOrEqual(6);
    expect(await staysUnchanged('ticks')).toBe(true);
    expect(statesOf(session.marker).running).toHaveLength(2);
    await continueSession(host, session);
  }
  rmSync(script);
});

test('a session is halted at its very start', async () => {
  for (let round = 0; round < 10; round += 1) {
    const spec = workspace.spec('while :; do echo x >>ticks; done');
    const session = { ...spec, identity: await startSession(host, spec) };
    expect((await haltSession(host, session)).halted).toBeGreaterThanOrEqual(1);
    const { childPid } = await findSession(spec.dir);
    expect(processTable.read(childPid ?? 0)).toMatchObject({ stopped: true });
    await stopSession(host, { ...session, graceMs: 0 });
  }
});

test('the end of a paused command is recorded', async () => {
  const session = await startReady('echo ready; while :; do sleep 0.01; done');
  await haltSession(host, session);
  const { childPid } = await findSession(session.dir);
  process.kill(childPid ?? 0, 'SIGKILL');
  expect(await exitCode(session.dir)).toBe(137);
});

test('an ended session has nothing to pause or continue', async () => {
  const session = await startReady('echo ready');
  await exitCode(session.dir);
  await eventually(() => !isAlive(session.identity));
  expect(await haltSession(host, session)).toEqual({ halted: 0 });
  expect(await continueSession(host, session)).toEqual({ continued: 0 });
});

test('a pause that times out is an error that says what to do', async () => {
  const session = await startReady('echo ready; exec sleep 600');
  // Without a record of the command nobody knows whether it has been started.
  writeFileSync(join(session.dir, 'child'), '');
  let timeMs = 0;
  const halting = haltSession(host, session, () => (timeMs += 5_000));
  await expect(halting).rejects.toMatchObject({
    code: 'timeout',
    hint: expect.stringContaining('try again') as string,
  });
});

test('an invalid marker is refused', async () => {
  const session = { identity: null, dir: workspace.root, marker: 'x' };
  await expect(haltSession(host, session)).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(continueSession(host, session)).rejects.toMatchObject({ code: 'invalid_input' });
});
