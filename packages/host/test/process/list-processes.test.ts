import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { processTable } from '../../src/process/process-table.ts';
import { eventually, host } from '../support/workspace.ts';

type Script = { pid: number; say(text: string): void; [Symbol.asyncDispose](): Promise<void> };

/** Runs a shell script with its own environment; a line on stdin lets it continue. */
async function runScript(script: string, env: Record<string, string> = {}): Promise<Script> {
  const child = spawn('/bin/sh', ['-c', `echo ready; ${script}`], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  await once(child.stdout, 'data');
  return {
    pid: child.pid ?? 0,
    say: (text) => void child.stdin.write(`${text}\n`),
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

test('callers before a scan starts share it, and none gets an older one', async () => {
  const [first, second] = [host.listings.next(), host.listings.next()];
  expect(second).toBe(first);
  await using script = await runScript('read x');
  const third = host.listings.next();
  expect(third).not.toBe(first);
  const start = processTable.read(script.pid)?.start ?? '';
  expect((await third).find({ pid: script.pid, start })).toMatchObject({ parent: process.pid });
  const ourselves = processTable.read(process.pid);
  expect((await first).find({ pid: process.pid, start: ourselves?.start ?? '' })).toBe(null);
});

test('a failing scan fails its callers, and the next one works', async () => {
  const { list } = processTable;
  processTable.list = () => {
    throw new Error('no descriptors');
  };
  try {
    await expect(host.listings.next()).rejects.toThrow('no descriptors');
  } finally {
    processTable.list = list;
  }
  expect((await host.listings.next()).inGroup(processTable.read(process.pid)?.group ?? 0)).not.toEqual([]);
});

test('the marker of a process that execs another program is read again', async () => {
  const [before, after] = [`test-${randomUUID()}`, `test-${randomUUID()}`];
  await using script = await runScript(`read x; exec env PAWL_SESSION=${after} sleep 600`, { PAWL_SESSION: before });
  const holders = (marker: string) =>
    host.listings
      .now()
      .marked(marker, null)
      .map(({ pid }) => pid);
  expect([holders(before), holders(after)]).toEqual([[script.pid], []]);
  script.say('go');
  await eventually(() => holders(after).length === 1);
  expect([holders(before), holders(after)]).toEqual([[], [script.pid]]);
});

test('a process that clears its environment loses its marker', async () => {
  const marker = `test-${randomUUID()}`;
  await using script = await runScript('read x; exec env -i /bin/sleep 600', { PAWL_SESSION: marker });
  expect(host.listings.now().marked(marker, null)).toHaveLength(1);
  script.say('go');
  await eventually(() => processTable.read(script.pid)?.bare);
  expect(host.listings.now().marked(marker, null)).toEqual([]);
});

test('the environment of a process is read once', async () => {
  const marker = `test-${randomUUID()}`;
  await using script = await runScript('read x', { PAWL_SESSION: marker });
  const { variables } = processTable;
  let asked = 0;
  processTable.variables = (pids, name) => {
    asked += pids.filter((pid) => pid === script.pid).length;
    return variables(pids, name);
  };
  try {
    for (let look = 0; look < 3; look += 1) expect((await host.listings.next()).marked(marker, null)).toHaveLength(1);
    expect(asked).toBe(1);
  } finally {
    processTable.variables = variables;
  }
});

test('a scan waits for a process that is in the middle of an exec', async () => {
  const marker = `test-${randomUUID()}`;
  await using script = await runScript('read x', { PAWL_SESSION: marker });
  const { variables } = processTable;
  let times = 0;
  processTable.variables = (pids, name) => {
    const found = variables(pids, name);
    if (found.has(script.pid) && (times += 1) <= 3) found.set(script.pid, null);
    return found;
  };
  try {
    expect((await host.listings.next()).marked(marker, null)).toHaveLength(1);
    expect(times).toBe(4);
  } finally {
    processTable.variables = variables;
  }
});

test('a process started by one that ended during the scan is found', async () => {
  const { list } = processTable;
  let started: Script | undefined;
  let passes = 0;
  const marker = `test-${randomUUID()}`;
  processTable.list = (except) => {
    const entries = list(except);
    passes += 1;
    // The new process exists only after the first reading.
    return passes === 1 ? entries.filter(({ pid }) => pid !== started?.pid) : entries;
  };
  try {
    started = await runScript('read x', { PAWL_SESSION: marker });
    expect((await host.listings.next()).marked(marker, null)).toHaveLength(1);
    expect(passes).toBeGreaterThanOrEqual(2);
  } finally {
    processTable.list = list;
    await started?.[Symbol.asyncDispose]();
  }
});
