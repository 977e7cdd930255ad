import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { noLimits } from '@pawl/schema/launch-spec';
import { expect, test } from 'vitest';
import { signalProcess } from '../../src/process/identity.ts';
import { startSession } from '../../src/session/start-session.ts';
import type { WatchedProcess } from '../../src/supervise/watch-processes.ts';
import { watchProcesses } from '../../src/supervise/watch-processes.ts';
import { eventually, exitCode, host, useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();

/** Watches a script, and collects the reports about it. */
async function watchScript(script: string, changes: Partial<WatchedProcess> = {}, options = { livenessMs: 20 }) {
  const { dir: directory, ...spec } = workspace.spec(script, { stdin: 'file' });
  const identity = await startSession(host, { dir: directory, ...spec });
  const told: string[] = [];
  const watch = watchProcesses(
    {
      onChange: () => told.push('change'),
      onLeft: () => told.push('left'),
      onLimit: (_, limit) => told.push(limit),
      onError: (error) => told.push(String(error)),
    },
    { pollMs: 10, ...options },
  );
  watch.add({ directory, identity, limits: noLimits, ranMs: 0, ...changes });
  return { directory, identity, told, watch, [Symbol.dispose]: () => watch.close() };
}

test('reports output, and a process that left', async () => {
  using seen = await watchScript('echo one; until [ -e leave ]; do sleep 0.01; done', {}, { livenessMs: 60_000 });
  await eventually(() => seen.told.includes('change'));
  writeFileSync(join(workspace.root, 'leave'), '');
  await eventually(() => seen.told.includes('left'));
  expect(seen.told.filter((each) => each === 'left')).toHaveLength(1);
});

test('reports a process that died without an exit code, also one that was dead before', async () => {
  using seen = await watchScript('sleep 600');
  signalProcess(seen.identity, 'SIGKILL');
  await eventually(() => seen.told.includes('left'));
  using late = await watchScript('exit 0', { identity: { ...seen.identity } }, { livenessMs: 60_000 });
  await eventually(() => late.told.includes('left'));
});

test('reports a process that prints more than it may', async () => {
  using seen = await watchScript('echo 123456789; echo abcdefghi >&2; sleep 600', {
    limits: { runMs: null, outputBytes: 19 },
  });
  await eventually(() => seen.told.includes('outputBytes'));
  using modest = await watchScript('echo 123456789', { limits: { runMs: null, outputBytes: 10 } });
  await exitCode(modest.directory);
  await eventually(() => modest.told.includes('left'));
  expect(modest.told).not.toContain('outputBytes');
});

test('reports a process that runs longer than it may, and counts the time before', async () => {
  using seen = await watchScript('sleep 600', { limits: { runMs: 1_000_000, outputBytes: null }, ranMs: 999_980 });
  await eventually(() => seen.told.includes('runMs'));
  using patient = await watchScript('sleep 600', { limits: { runMs: 2 ** 40, outputBytes: null } });
  await eventually(() => patient.told.includes('change'));
  expect(patient.told).not.toContain('runMs');
});

test('reports nothing about a process that was removed', async () => {
  using seen = await watchScript('sleep 600', { limits: { runMs: 50, outputBytes: null } });
  seen.watch.remove(seen.directory);
  seen.told.length = 0;
  signalProcess(seen.identity, 'SIGKILL');
  using other = await watchScript('sleep 0.2', { limits: { runMs: 100, outputBytes: null } });
  await eventually(() => other.told.includes('left'));
  expect(seen.told).toEqual([]);
});
