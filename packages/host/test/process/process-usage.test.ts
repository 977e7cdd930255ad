import { expect, test } from 'vitest';
import { isAlive } from '../../src/process/identity.ts';
import { processUsage } from '../../src/process/process-usage.ts';
import { startSession } from '../../src/session/start-session.ts';
import { strayProcesses } from '../../src/session/stray.ts';
import { eventually, exitCode, host, textOf, useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();

test('sums time and memory over the processes of each session', async () => {
  const busy = workspace.spec('(while :; do :; done) & while :; do :; done');
  const quiet = workspace.spec('exec sleep 600');
  const [busyShim, quietShim] = [await startSession(host, busy), await startSession(host, quiet)];
  const isSleeper = ({ pid }: { pid: number }) => textOf(`/proc/${pid}`, 'cmdline').startsWith('sleep\0');
  await eventually(() => strayProcesses(quiet.marker).some(isSleeper));
  await eventually(async () => ((await processUsage(host, [busyShim])).get(busyShim.pid)?.cpuMs ?? 0) >= 200);
  const usage = await processUsage(host, [busyShim, quietShim]);
  expect([...usage.keys()]).toEqual([busyShim.pid, quietShim.pid]);
  // The shim, the holder of its input, the command and, in one of them, its child.
  expect(usage.get(busyShim.pid)?.processes).toBe(4);
  expect(usage.get(quietShim.pid)?.processes).toBe(3);
  expect(usage.get(quietShim.pid)?.cpuMs).toBeLessThan(200);
  const resident = usage.get(quietShim.pid)?.residentBytes ?? 0;
  expect(resident).toBeGreaterThan(3 * 100_000);
  expect(resident).toBeLessThan(3 * 20_000_000);
});

test('a reaped child counts, and strays count by their marker', async () => {
  const spec = workspace.spec(`
    sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
    (setsid sleep 600 &)
    exec sleep 600`);
  const shim = await startSession(host, spec);
  await eventually(() => {
    const marked = strayProcesses(spec.marker);
    const pids = new Set(marked.map(({ pid }) => pid));
    // The sleeper has left the group, and its parent has ended.
    return marked.length === 4 && marked.some(({ group, parent }) => group !== shim.pid && !pids.has(parent));
  });
  const [plain, marked] = [
    await processUsage(host, [shim]),
    await processUsage(host, [{ ...shim, marker: spec.marker }]),
  ];
  expect(plain.get(shim.pid)?.processes).toBe(3);
  expect(marked.get(shim.pid)?.processes).toBe(4);
  expect(plain.get(shim.pid)?.cpuMs).toBeGreaterThanOrEqual(10);
});

test('an ended session and another process with its pid are left out', async () => {
  const spec = workspace.spec('exit 0');
  const shim = await startSession(host, spec);
  await exitCode(spec.dir);
  await eventually(() => !isAlive(shim));
  const stranger = { pid: process.ppid, start: 'boot/1' };
  expect(await processUsage(host, [shim, stranger])).toEqual(new Map());
  expect(await processUsage(host, [])).toEqual(new Map());
});
