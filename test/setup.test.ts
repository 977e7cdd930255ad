import { temporaryDirectory } from '@pawl/testing/temporary';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { workspaceRoot } from '../scripts/import-boundaries.ts';

const run = promisify(execFile);

/** A checkout whose packages are installed, and whose build only notes that it ran. */
async function checkout() {
  const place = await temporaryDirectory();
  const root = place.path;
  for (const directory of ['scripts', 'packages/web', 'dist', '.cache', 'node_modules/node/bin'])
    mkdirSync(join(root, directory), { recursive: true });
  copyFileSync(join(workspaceRoot, 'scripts', 'setup.mjs'), join(root, 'scripts', 'setup.mjs'));
  for (const file of ['package.json', 'package-lock.json', 'scripts/build-settings.mjs', 'packages/web/build.mjs'])
    writeFileSync(join(root, file), '');
  symlinkSync(process.execPath, join(root, 'node_modules', 'node', 'bin', 'node'));
  const installed = createHash('sha256').update('package-lock.json').digest('hex');
  writeFileSync(join(root, 'node_modules', '.pawl-installed'), installed);
  const log = join(root, 'log');
  writeFileSync(
    join(root, 'scripts', 'build.mjs'),
    `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(log)}, 'built\\n');\n`,
  );
  return {
    lock: join(root, '.cache', 'setup.lock'),
    builds: () => (existsSync(log) ? readFileSync(log, 'utf8') : ''),
    root,
    // Outside of CI nothing is installed on the machine.
    setup: (env: NodeJS.ProcessEnv = { ...process.env, CI: '' }) =>
      run(process.execPath, [join(root, 'scripts', 'setup.mjs'), '--build'], { env }),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

test('one of several concurrent setups builds, and the others wait for it', async () => {
  await using place = await checkout();
  await Promise.all([place.setup(), place.setup(), place.setup()]);
  expect(place.builds()).toBe('built\n');
  expect(existsSync(place.lock)).toBe(false);
});

test.each([
  ['a process that is gone', '99999999'],
  ['one that was killed before it wrote its id', ''],
])('the lock of %s is taken over', async (_, content) => {
  await using place = await checkout();
  writeFileSync(place.lock, content);
  await place.setup();
  expect(place.builds()).toBe('built\n');
  expect(existsSync(place.lock)).toBe(false);
});

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

test.runIf(isRoot)('set-up in CI continues without bubblewrap where it cannot be installed, and says so', async () => {
  await using place = await checkout();
  const programs = join(place.root, 'programs');
  mkdirSync(programs);
  writeFileSync(join(programs, 'git'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  writeFileSync(join(programs, 'apt-get'), `#!/bin/sh\necho "$@" >>'${programs}/asked'\nexit 100\n`, { mode: 0o755 });
  await place.setup({ PATH: programs });
  expect(existsSync(join(programs, 'asked'))).toBe(false);
  const { stderr } = await place.setup({ PATH: programs, CI: 'true' });
  expect(stderr).toBe('bubblewrap could not be installed: tests of the sandbox are skipped\n');
  expect(readFileSync(join(programs, 'asked'), 'utf8')).toMatch(/update\n$/);
});
