import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ProcessHelper } from '../../src/command/process-helper.ts';
import type { ProcessRequest } from '../../src/command/run-process.ts';
import { runProcess } from '../../src/command/run-process.ts';
import { temporaryDirectory } from '../fixture.ts';

const helper = new ProcessHelper({ ownCommands: 0 });

/** A command gives the same answer whether this process or its helper runs it. */
describe.each([
  { by: 'this process', run: runProcess },
  { by: 'the helper', run: helper.run.bind(helper) },
])('a program run by $by', ({ run }) => {
  const shell = (script: string, request: Partial<ProcessRequest> = {}) =>
    run('sh', ['-c', script], {
      cwd: '/',
      env: { PATH: process.env['PATH'], GIVEN: 'given' },
      encoding: 'utf8',
      timeoutMs: 60_000,
      maxBytes: 1_000_000,
      ...request,
    });

  test('returns its output and exit, with only the given environment', async () => {
    const result = await shell('echo "out $GIVEN$HOME"; echo err >&2; exit 3');
    expect(result).toEqual({
      exitCode: 3,
      stdout: 'out given\n',
      stderr: 'err\n',
      timedOut: false,
      isMaxBuffer: false,
    });
  });

  test('reads bytes, a file, or nothing, and may exit before it has read all', async () => {
    expect((await shell('cat', { input: Buffer.from('bytes') })).stdout).toBe('bytes');
    const inputFile = join(temporaryDirectory(), 'input');
    writeFileSync(inputFile, 'file');
    expect((await shell('cat', { inputFile })).stdout).toBe('file');
    expect((await shell('cat')).stdout).toBe('');
    expect(await shell('exit 0', { input: Buffer.alloc(4_000_000) })).toMatchObject({ exitCode: 0 });
  });

  test('keeps the beginning of a long output and ends the process, without splitting a character', async () => {
    const endless = 'while :; do echo öööö; done';
    const result = await shell(endless, { maxBytes: 4 });
    expect(result).toMatchObject({ isMaxBuffer: true, timedOut: false, stdout: 'öö' });
    expect((await shell(endless, { maxBytes: 3 })).stdout).toBe('ö');
    expect((await shell(endless, { maxBytes: 3, encoding: 'latin1' })).stdout).toBe('Ã¶Ã');
    expect((await shell('echo abc', { maxBytes: 4 })).isMaxBuffer).toBe(false);
    expect(await shell('echo long enough >&2; sleep 60', { maxBytes: 4 })).toMatchObject({ isMaxBuffer: true });
  });

  test('ends a process at its timeout, even if a grandchild holds its output', async () => {
    const result = await shell('exec sleep 60', { timeoutMs: 200 });
    expect(result).toMatchObject({ timedOut: true, signal: 'SIGTERM' });
    expect(result.exitCode).toBeUndefined();
    const held = join(temporaryDirectory(), 'held');
    for (const end of ['wait', 'exit 0']) {
      writeFileSync(held, '');
      const left = await shell(`(while [ -e '${held}' ]; do sleep 0.1; done) & ${end}`, { timeoutMs: 200 });
      expect(left.timedOut).toBe(true);
      rmSync(held);
    }
  });

  test('says why it could not be started', async () => {
    const request = { cwd: '/', env: {}, encoding: 'utf8', timeoutMs: 1_000, maxBytes: 10 } as const;
    expect(await run('/no/such/program', [], request)).toMatchObject({ code: 'ENOENT', stdout: '' });
    expect(await shell('true', { cwd: '/no/such/directory' })).toMatchObject({ code: 'ENOENT' });
    expect(await shell('true', { inputFile: '/no/such/file' })).toMatchObject({ code: 'ENOENT' });
    expect((await run('/no/such/program', [], request)).exitCode).toBeUndefined();
    expect(await shell('kill -9 $$')).toMatchObject({ signal: 'SIGKILL' });
  });
});
