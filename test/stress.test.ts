import { isAlive } from '@pawl/host/process/identity';
import { processTable } from '@pawl/host/process/process-table';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Runs the script on the suite in a directory, where its output goes, too. */
function startStress(path: string, words: string[]): ChildProcess {
  const script = join(root, 'scripts', 'test-stress.mjs');
  return spawn(process.execPath, [script, '--root', path, '--busy', '1', ...words], {
    env: { ...process.env, TMPDIR: path },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

async function stress(path: string, words: string[]): Promise<{ code: unknown; stdout: string }> {
  const child = startStress(path, words);
  let stdout = '';
  child.stdout?.on('data', (chunk) => (stdout += String(chunk)));
  const [code] = await once(child, 'close');
  return { code, stdout };
}

/** A suite with a flaky test behind a fixture that starts processes, and one that the rule does not select. */
function writeSuite(path: string): void {
  const files = {
    'test/support/fixture.ts': `import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
export const root = import.meta.dirname;
/** Leaves a process behind, as a test does that fails before it cleans up. */
export function leaveProcess() {
  const env = { PATH: process.env.PATH, HOME: tmpdir() + '/home' };
  spawn('sleep', ['600'], { env, stdio: 'ignore', detached: true }).unref();
}
`,
    'test/flaky.test.ts': `import { appendFileSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { leaveProcess, root } from './support/fixture.ts';
test('steady', () => {});
test('flaky', () => {
  appendFileSync(root + '/rounds', 'x');
  if (readFileSync(root + '/rounds', 'utf8') === 'xx') leaveProcess();
  expect(readFileSync(root + '/rounds', 'utf8')).not.toBe('xx');
});`,
    'test/pure.test.ts': "import { test } from 'vitest';\ntest('fails', () => { throw new Error('not selected'); });\n",
  };
  mkdirSync(join(path, 'test', 'support'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'));
}

test('repeats the selected tests, lists those that failed in any round, and keeps their output', async () => {
  await using place = await temporaryDirectory();
  writeSuite(place.path);
  const { code, stdout } = await stress(place.path, ['--rounds', '3']);
  expect(code).toBe(1);
  expect(stdout).toContain('1 of 2 test files.');
  expect(stdout).toContain('round 3 of 3');
  expect(stdout).toContain(
    "1 of 3 rounds (2): test/flaky.test.ts > flaky\n    AssertionError: expected 'xx' not to be 'xx'",
  );
  expect(stdout).not.toContain('steady');
  expect(stdout).toContain('Tests left 1 processes running; they were ended.\nround 2 of 3');
  const output = /is in (\S+)\.\n/.exec(stdout)?.[1] ?? '';
  expect(readFileSync(join(output, 'round-2.log'), 'utf8')).toContain('1 failed | 1 passed');
  expect((await stress(place.path, ['--rounds', '1', 'fla'])).stdout).toContain('No test failed in 1 rounds.');
});

test('an interrupt ends all its processes', async () => {
  await using place = await temporaryDirectory();
  writeSuite(place.path);
  const child = startStress(place.path, ['--rounds', '1000']);
  const left = once(child, 'exit');
  const started = await waitUntil(
    () => {
      const children = processTable.list().filter(({ parent }) => parent === child.pid);
      return children.length === 2 ? children : null;
    },
    { what: 'a busy process and a round' },
  );
  child.kill('SIGINT');
  expect(await left).toEqual([130, null]);
  await waitUntil(() => !started.some((identity) => isAlive(identity)), { what: 'all to be gone' });
});

test('refuses an invalid number of rounds', async () => {
  await using place = await temporaryDirectory();
  expect((await stress(place.path, ['--rounds', 'many'])).code).toBe(2);
});
