import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createHost } from '../../src/host.ts';
import type { ProcessIdentity } from '../../src/process/identity.ts';
import { startSession } from '../../src/session/start-session.ts';
import { strayProcesses } from '../../src/session/stray.ts';
import type { ProcessRecord } from '../../src/supervise/supervise.ts';
import { supervise } from '../../src/supervise/supervise.ts';
import { eventually, exitCode, host, textOf, useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();
const noLeftovers = { leftoverGraceMs: null };

/** A record in memory, which a test may make fail. */
function recordOf(script: string) {
  const spec = workspace.spec(script, { stdin: 'file' });
  const started: ProcessIdentity[] = [];
  const record: ProcessRecord = {
    marker: spec.marker,
    directory: spec.dir,
    identity: null,
    recordStart: async (identity) => void started.push(identity),
  };
  return { spec, record, started, start: async () => spec };
}

test('a process whose start could not be recorded is found by the next attempt, and runs once', async () => {
  const { spec, record, started, start } = recordOf('echo ran >>"$PWD/ran"; sleep 600');
  const refusing = { ...record, recordStart: () => Promise.reject(new Error('the disk is full')) };
  await expect(supervise(host, refusing).begin(start, noLeftovers)).rejects.toThrow('the disk is full');
  const next = supervise(createHost(), record);
  const identity = await next.begin(() => Promise.reject(new Error('it is prepared twice')), noLeftovers);
  expect(await next.begin(start, noLeftovers)).toEqual(identity);
  expect(started).toEqual([identity]);
  expect(await next.state()).toEqual({ is: 'running' });
  await eventually(() => existsSync(join(workspace.root, 'ran')));
  expect(await next.end({ graceMs: 0 })).toEqual({ exitCode: 137, claimed: true });
  expect(textOf(workspace.root, 'ran')).toBe('ran\n');
  expect(strayProcesses(spec.marker)).toEqual([]);
});

test('leftovers without a claim end before another process begins', async () => {
  const { spec, record, start } = recordOf('sleep 600');
  const lost = await startSession(host, { ...spec, dir: join(workspace.root, 'elsewhere') });
  const supervised = supervise(host, record);
  const identity = await supervised.begin(start, { leftoverGraceMs: 0 });
  const pids = strayProcesses(spec.marker).map(({ pid }) => pid);
  expect(pids).toContain(identity.pid);
  expect(pids).not.toContain(lost.pid);
  await supervised.end({ graceMs: 0 });
});

test('a damaged claim starts nothing', async () => {
  const { spec, record, start, started } = recordOf('sleep 600');
  await supervise(host, record).begin(start, noLeftovers);
  writeFileSync(join(spec.dir, 'pid'), 'nonsense');
  const next = supervise(host, record);
  await expect(next.begin(start, noLeftovers)).rejects.toMatchObject({ code: 'host_failed', message: /damaged/ });
  expect(started).toHaveLength(1);
});

test('the state is ended with its exit code, or lost without one', async () => {
  const { spec, record, start } = recordOf('exit 3');
  const supervised = supervise(host, record);
  expect(await supervised.state()).toEqual({ is: 'lost' });
  await supervised.begin(start, noLeftovers);
  await exitCode(spec.dir);
  expect(await supervised.state()).toEqual({ is: 'ended', exitCode: 3 });
});

test('an exit code that a running process wrote itself does not count in the end', async () => {
  const { spec, record, start } = recordOf('sleep 600');
  const supervised = supervise(host, record);
  await supervised.begin(start, noLeftovers);
  await eventually(() => textOf(spec.dir, 'child') !== '');
  writeFileSync(join(spec.dir, 'exit'), '0  \n');
  expect((await supervised.end({ graceMs: 0 })).exitCode).toBe(137);
});

test('the host applies its function to every launch, once', async () => {
  const { spec, record } = recordOf('echo plain');
  const seen: string[] = [];
  const confining = createHost({
    confine(launch) {
      seen.push(launch.command);
      return { ...launch, arguments: ['-c', 'echo confined'] };
    },
  });
  await supervise(confining, record).begin(async () => spec, noLeftovers);
  await exitCode(spec.dir);
  expect(textOf(spec.dir, 'out')).toBe('confined\n');
  expect(seen).toEqual(['sh']);
});
