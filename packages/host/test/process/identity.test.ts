import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isAlive, signalProcess } from '../../src/process/identity.ts';
import { processTable } from '../../src/process/process-table.ts';
import { eventually } from '../support/workspace.ts';

function identify(pid: number | undefined) {
  const entry = processTable.read(pid ?? 0);
  if (entry === null) throw new Error(`no process ${pid}`);
  return { pid: entry.pid, start: entry.start };
}

test('a process is alive until it ends, and only with its own start time', async () => {
  const sleeper = spawn('sleep', ['600'], { stdio: 'ignore' });
  const identity = identify(sleeper.pid);
  expect(isAlive(identity)).toBe(true);
  expect(isAlive({ ...identity, start: `other-boot/${identity.start.split('/')[1]}` })).toBe(false);
  expect(signalProcess({ ...identity, start: 'x/1' }, 'SIGKILL')).toBe(false);
  expect(signalProcess(identity, 'SIGKILL')).toBe(true);
  expect((await once(sleeper, 'exit'))[1]).toBe('SIGKILL');
  await eventually(() => !isAlive(identity));
  expect(signalProcess(identity, 'SIGKILL')).toBe(false);
});

test('a zombie is dead, although its pid still takes signals', async () => {
  // The parent replaces itself by a program that never waits for the child, which ends only after that.
  const parent = spawn('sh', ['-c', 'exec 3<&0; (read x <&3) & echo $!; exec sleep 600'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  try {
    const [data] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(data.toString());
    await eventually(() => readFileSync(`/proc/${parent.pid}/cmdline`, 'latin1').startsWith('sleep'));
    parent.stdin.end();
    const zombie = await eventually(() => {
      const entry = processTable.read(pid);
      return entry?.defunct === true ? entry : null;
    });
    expect(process.kill(pid, 0)).toBe(true);
    expect(isAlive(zombie)).toBe(false);
    expect(signalProcess(zombie, 'SIGTERM')).toBe(false);
  } finally {
    parent.kill('SIGKILL');
    await once(parent, 'exit');
  }
});

test('we never signal ourselves or init', () => {
  expect(signalProcess(identify(process.pid), 'SIGCONT')).toBe(false);
  expect(signalProcess(identify(1), 'SIGCONT')).toBe(false);
});
