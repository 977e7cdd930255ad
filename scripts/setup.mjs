// Makes a fresh clone ready: installs what the lockfile names and, with --build, builds the bundle. Both only when
// something has changed, so that a second run costs nothing. Runs on Node 20; everything else uses the Node it installs.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const node = join(root, 'node_modules', 'node', 'bin', 'node');
/** How often a lock without an owner is checked before it counts as stale. */
const emptyWaits = 25;

requireNode(20);
requireProgram('git', 'Install git (Debian: apt-get install git) and run this again.');
if (process.env.CI && process.platform === 'linux' && process.getuid() === 0) installSandbox();
once('node_modules/.pawl-installed', fingerprint(['package-lock.json']), 'Installing packages', () =>
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], 'Check that the npm registry can be reached.'),
);
if (process.argv.includes('--build')) {
  const sources = [
    'package.json',
    'scripts/build.mjs',
    'scripts/build-settings.mjs',
    'packages/web/build.mjs',
    ...filesBelow('packages', /\/(src|agents|prompts)\/.*\.(tsx?|css|html|svg|sh|md|json)$/),
  ];
  once('dist/.pawl-built', fingerprint(sources), 'Building', () =>
    run(node, [join(root, 'scripts', 'build.mjs')], 'Read the message above.'),
  );
  if (process.argv.includes('--for-tests')) {
    const programs = [
      'scripts/build-crash-daemon.mjs',
      'packages/git/test/crash-child.ts',
      'packages/store/test/child/act.ts',
    ];
    once('.cache/crash-daemon/.pawl-built', fingerprint([...sources, ...programs]), 'Building with crash points', () =>
      run(node, [join(root, 'scripts', 'build-crash-daemon.mjs')], 'Read the message above.'),
    );
    once('.cache/test-database/.pawl-built', fingerprint(sources), 'Making the database that tests copy', () =>
      run(node, [join(root, 'scripts', 'build-test-database.ts')], 'Read the message above.'),
    );
  }
}

function requireNode(major) {
  if (Number(process.versions.node.split('.')[0]) >= major) return;
  fail(`Node ${major} or newer is needed; this is ${process.versions.node}.`, 'Install a newer Node.');
}

function requireProgram(name, hint) {
  if (spawnSync(name, ['--version'], { stdio: 'ignore' }).status !== 0) fail(`${name} is missing.`, hint);
}

/** Installs bubblewrap where that needs no confirmation. Without it, tests of the sandbox are skipped with a message. */
function installSandbox() {
  if (spawnSync('bwrap', ['--version'], { stdio: 'ignore' }).status === 0) return;
  // A machine without a mirror in reach goes on without it.
  const quickly = [
    '-q',
    '-o',
    'Acquire::Retries=0',
    '-o',
    'Acquire::http::Timeout=15',
    '-o',
    'Acquire::https::Timeout=15',
  ];
  const options = {
    stdio: ['ignore', 2, 2],
    timeout: 180_000,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  };
  const succeeds = (words) => spawnSync('apt-get', [...quickly, ...words], options).status === 0;
  if (succeeds(['update']) && succeeds(['install', '-y', 'bubblewrap'])) return;
  process.stderr.write('bubblewrap could not be installed: tests of the sandbox are skipped\n');
}

/** Does the work unless the stamp matches this exact state. */
function once(stamp, state, what, work) {
  const path = join(root, stamp);
  const isDone = () => existsSync(path) && readFileSync(path, 'utf8') === state;
  if (isDone()) return;
  const unlock = lock();
  try {
    // Another setup may have done it meanwhile.
    if (isDone()) return;
    process.stderr.write(`${what}…\n`);
    work();
    writeFileSync(path, state);
  } finally {
    unlock();
  }
}

/** Waits until no other setup of this checkout runs. Two at once would install over each other. */
function lock() {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const path = join(root, '.cache', 'setup.lock');
  for (let waits = 0; ; waits += 1) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      const unlock = () => rmSync(path, { force: true });
      process.once('exit', unlock);
      return unlock;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const owner = readOwner(path);
    // A setup that was killed before it wrote its id leaves an empty file.
    const isLeft = owner === null ? waits > emptyWaits : !isAlive(owner);
    if (isLeft) rmSync(path, { force: true });
    else if (waits === 0)
      process.stderr.write(`Waiting for another setup${owner === null ? '' : ` (pid ${owner})`}…\n`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
}

/** The process that holds the lock; null until it has written its id. */
function readOwner(path) {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function run(command, args, hint) {
  // Without HOME, npm would put its cache into a directory called ~ in the checkout.
  const env = { ...process.env, HOME: process.env.HOME || userInfo().homedir };
  const { status, error } = spawnSync(command, args, { cwd: root, env, stdio: ['ignore', 2, 2] });
  if (status !== 0) fail(`${command} failed${error ? `: ${error.message}` : ''}.`, hint);
}

function fingerprint(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function filesBelow(directory, pattern) {
  return readdirSync(join(root, directory), { recursive: true })
    .map((name) => join(directory, String(name)))
    .filter((path) => pattern.test(path) && !path.includes('node_modules') && statSync(join(root, path)).isFile())
    .sort();
}

function fail(message, hint) {
  process.stderr.write(`error: ${message}\n  → ${hint}\n`);
  process.exit(1);
}
