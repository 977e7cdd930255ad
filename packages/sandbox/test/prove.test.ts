import { temporaryDirectory } from '@pawl/testing/temporary';
import { execFile } from 'node:child_process';
import { chown } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { attacks, attackScript } from '../src/attack.ts';
import { proveSandbox } from '../src/prove.ts';
import { runBriefly } from '../src/run-briefly.ts';
import { sandbox, sandboxTest } from './support/machine.ts';

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
/** The kernel limits the processes of root, and the memory of all processes together, only by a control group. */
const unlimited = ['total-memory', ...(isRoot ? ['fork-bomb'] : [])];

sandboxTest('no attack succeeds in the sandbox [sandbox files, sandbox processes]', async () => {
  if (!sandbox.works) return;
  await using scratch = await temporaryDirectory();
  const proofs = await proveSandbox(sandbox.machine, scratch.path);
  const broken = proofs.filter(({ holds }) => !holds).map(({ name }) => name);
  expect(broken.filter((name) => !unlimited.includes(name))).toEqual([]);
  expect(proofs.length).toBe(attacks.length + 1);
});

sandboxTest('no attack succeeds for an ordinary user [sandbox limits]', async () => {
  // Every user reaches /tmp, while TMPDIR may be private.
  await using scratch = await temporaryDirectory('pawl-test', '/tmp');
  const user = isRoot ? [String(nobody)] : [];
  if (isRoot) await chown(scratch.path, nobody, nobody);
  const child = join(import.meta.dirname, 'support', 'prove-child.ts');
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent' };
  const { stdout } = await promisify(execFile)(process.execPath, [child, scratch.path, ...user], { env, cwd: '/' });
  expect(stdout).toBe('["total-memory"]');
});

test('the attacks succeed without a sandbox', async () => {
  await using scratch = await temporaryDirectory();
  const { path } = scratch;
  const harmless = ['symlink', 'secret', 'see-processes', 'privileges'];
  const list = attacks.filter(({ name }) => harmless.includes(name));
  const end = await runBriefly({
    command: '/bin/sh',
    arguments: ['-c', `cd "$outside" && echo x >secret\n${attackScript(list).replace('sleep 30', 'sleep 3')}`],
    environment: { outside: path, secret: join(path, 'secret'), pid: String(process.pid), limit: '8', bytes: '1024' },
  });
  expect(end.output.trim().split('\n').toSorted()).toEqual(harmless.toSorted());
  expect(end.survived).toBe(true);
});
