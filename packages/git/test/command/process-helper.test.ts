import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasEnded } from '@pawl/testing/sleeper';
import { waitUntil } from '@pawl/testing/wait-until';
import { ProcessHelper } from '../../src/command/process-helper.ts';
import { temporaryDirectory } from '../fixture.ts';

const request = {
  cwd: '/',
  env: { PATH: process.env['PATH'] },
  encoding: 'utf8',
  timeoutMs: 60_000,
  maxBytes: 1_000_000,
} as const;

test('runs the first commands without a helper, and the others with one', async () => {
  const helper = new ProcessHelper({ ownCommands: 2 });
  const parentOf = async () => Number((await helper.run('sh', ['-c', 'echo $PPID'], request)).stdout);
  expect([await parentOf(), await parentOf()]).toEqual([process.pid, process.pid]);
  expect(helper.pid).toBeUndefined();
  const parent = await parentOf();
  expect(parent).toBe(helper.pid);
  expect(parent).not.toBe(process.pid);
});

test('gives each of many commands at once its own answer', async () => {
  const helper = new ProcessHelper({ ownCommands: 0 });
  const numbers = Array.from({ length: 20 }, (_, index) => index);
  const answers = await Promise.all(numbers.map((number) => helper.run('sh', ['-c', `echo ${number}`], request)));
  expect(answers.map(({ stdout }) => Number(stdout))).toEqual(numbers);
});

test('a helper that is killed ends its commands without an answer, and the next command gets a new one', async () => {
  const helper = new ProcessHelper({ ownCommands: 0 });
  const held = join(temporaryDirectory(), 'held');
  writeFileSync(held, '');
  const begun = join(temporaryDirectory(), 'begun');
  const script = `echo > '${begun}'; while [ -e '${held}' ]; do sleep 0.1; done`;
  const waiting = helper.run('sh', ['-c', script], request);
  await waitUntil(() => existsSync(begun), { what: 'the command to begin' });
  process.kill(helper.pid ?? 0, 'SIGKILL');
  expect(await waiting).toMatchObject({ code: 'helper lost', stdout: '' });
  expect((await waiting).exitCode).toBeUndefined();
  rmSync(held);
  expect(await helper.run('echo', ['again'], request)).toMatchObject({ exitCode: 0, stdout: 'again\n' });
});

test('leaves without work, also while it is signalled by a terminal, and comes back', async () => {
  const helper = new ProcessHelper({ ownCommands: 0, idleMs: 100 });
  await helper.run('true', [], request);
  const pid = helper.pid ?? 0;
  process.kill(pid, 'SIGINT');
  await waitUntil(() => hasEnded(pid), { what: 'the idle helper to leave' });
  expect(await helper.run('echo', ['again'], request)).toMatchObject({ exitCode: 0, stdout: 'again\n' });
});

test('keeps no process from its end, and leaves when that process was killed', async () => {
  const directory = temporaryDirectory();
  const child = join(directory, 'child.mjs');
  const source = join(import.meta.dirname, '..', '..', 'src', 'command', 'process-helper.ts');
  writeFileSync(
    child,
    `import { writeFileSync } from 'node:fs';
     import { ProcessHelper } from ${JSON.stringify(source)};
     const helper = new ProcessHelper({ ownCommands: 0 });
     await helper.run('true', [], ${JSON.stringify(request)});
     writeFileSync(process.argv[2], String(helper.pid));
     if (process.argv[3] === 'stay') setInterval(() => {}, 1000);`,
  );
  for (const way of ['exit', 'stay']) {
    const file = join(directory, way);
    const parent = spawn(process.execPath, [child, file, way], { stdio: 'ignore' });
    const ended = once(parent, 'exit');
    await waitUntil(() => existsSync(file) && readFileSync(file, 'utf8') !== '', { what: 'the pid of the helper' });
    if (way === 'stay') parent.kill('SIGKILL');
    await ended;
    await waitUntil(() => hasEnded(Number(readFileSync(file, 'utf8'))), { what: 'the helper to leave' });
  }
});
