import { expect, test } from 'vitest';
import { interruptSession } from '../../src/session/interrupt-session.ts';
import { isAlive } from '../../src/process/identity.ts';
import { processTable } from '../../src/process/process-table.ts';
import { startSession } from '../../src/session/start-session.ts';
import { strayProcesses } from '../../src/session/stray.ts';
import type { SpecChanges } from '../support/workspace.ts';
import { eventually, exitCode, host, textOf, useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();

async function startReady(script: string, changes: SpecChanges = {}) {
  const spec = workspace.spec(script, changes);
  const identity = await startSession(host, spec);
  await eventually(() => textOf(spec.dir, 'out').includes('ready'));
  return { identity, dir: spec.dir, marker: spec.marker };
}

function sleepers(marker: string): number[] {
  const isSleeper = (pid: number) => textOf(`/proc/${pid}`, 'cmdline').startsWith('sleep\0');
  return strayProcesses(marker)
    .map(({ pid }) => pid)
    .filter(isSleeper);
}

test('the agent and its group get SIGINT once, as from a terminal; strays, the shim and others do not', async () => {
  const other = await startReady(`trap 'exit 9' INT; echo ready; while :; do sleep 0.01; done`);
  const session = await startReady(
    `trap 'echo interrupted' INT; setsid sleep 600 & echo ready; while :; do sleep 601; done`,
  );
  for (let times = 1; times <= 3; times += 1) {
    const before = await eventually(() => (sleepers(session.marker).length === 2 ? sleepers(session.marker) : null));
    expect(await interruptSession(host, session)).toEqual({ interrupted: 2 });
    await eventually(() => textOf(session.dir, 'out') === `ready\n${'interrupted\n'.repeat(times)}`);
    const [ended, ...others] = before.filter((pid) => processTable.read(pid)?.defunct ?? true);
    expect([ended !== undefined, others]).toEqual([true, []]);
  }
  expect(isAlive(session.identity)).toBe(true);
  expect(isAlive(other.identity)).toBe(true);
});

test('the exit code of a command that ends by it is recorded', async () => {
  const session = await startReady(`trap 'exit 9' INT; echo ready; while :; do sleep 0.01; done`);
  expect((await interruptSession(host, session)).interrupted).toBeGreaterThanOrEqual(1);
  expect(await exitCode(session.dir)).toBe(9);
});

test('an agent in its own process group is reached there', async () => {
  const script = `trap 'echo interrupted' INT; echo ready; while :; do sleep 600; done`;
  const session = await startReady('', { command: 'setsid', args: ['sh', '-c', script] });
  await eventually(() => sleepers(session.marker).length === 1);
  expect(await interruptSession(host, session)).toEqual({ interrupted: 2 });
  await eventually(() => textOf(session.dir, 'out') === 'ready\ninterrupted\n');
});

test('an ended session is left alone', async () => {
  const session = await startReady('setsid sleep 600 & echo ready');
  await exitCode(session.dir);
  await eventually(() => !isAlive(session.identity));
  expect(await interruptSession(host, session)).toEqual({ interrupted: 0 });
});
