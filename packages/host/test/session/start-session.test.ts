import { endurance } from '@pawl/testing/endurance';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { findSession } from '../../src/session/find-session.ts';
import { isAlive } from '../../src/process/identity.ts';
import { closeInput, sendInput } from '../../src/session/input.ts';
import { processTable, startOrder } from '../../src/process/process-table.ts';
import { psTable } from '../../src/process/process-table-ps.ts';
import { prepareSession } from '../../src/session/session-files.ts';
import { shimScript } from '../../src/session/shim.ts';
import { startSession } from '../../src/session/start-session.ts';
import { bashAsSh, eventually, exitCode, host, textOf, useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();

describe.each(['dash', 'bash'])('under %s', (shellName) => {
  const spec = (script: string, changes = {}) =>
    workspace.spec(script, { ...(shellName === 'bash' ? { shell: bashAsSh(workspace.root) } : {}), ...changes });

  test('runs a command with its prompt on stdin and records how it ended', async () => {
    const session = spec('cat; echo problem >&2; exit 7', { stdin: 'file', prompt: 'good morning\n' });
    await startSession(host, session);
    expect(await exitCode(session.dir)).toBe(7);
    expect(textOf(session.dir, 'out')).toBe('good morning\n');
    expect(textOf(session.dir, 'err')).toBe('problem\n');
  });

  test('a FIFO session reads its prompt, then lines, then EOF', async () => {
    const session = spec('cat; echo end', { prompt: 'first\n' });
    await startSession(host, session);
    await sendInput(host, session.dir, 'second');
    await eventually(() => textOf(session.dir, 'out') === 'first\nsecond\n');
    await closeInput(host, session.dir);
    expect(await exitCode(session.dir)).toBe(0);
    expect(textOf(session.dir, 'out')).toBe('first\nsecond\nend\n');
  });

  test('the command gets default signals, no descriptors of the shim, and exactly its environment', async () => {
    const session = spec(
      'grep -E "^(SigIgn|SigBlk)" /proc/self/status; echo $(ls -l /proc/$$/fd | sed -n "s:.*/session [0-9]*/::p"); umask; pwd; exec cat /proc/self/environ',
      { env: { PATH: '/usr/bin:/bin', pid: 'mine', code: 'mine', ODD: 'a\nb "$x" \\' }, stdin: 'fifo' },
    );
    await startSession(host, session);
    expect(await exitCode(session.dir)).toBe(0);
    const [blocked, ignored, descriptors, mask, cwd, ...rest] = textOf(session.dir, 'out').split('\n');
    expect(blocked).toBe('SigBlk:\t0000000000000000');
    expect(ignored).toBe('SigIgn:\t0000000000000000');
    expect(descriptors).toBe('in out err');
    expect(Number.parseInt(mask ?? '', 8)).toBe(process.umask());
    expect(cwd).toBe(workspace.root);
    const environment = Object.fromEntries(
      rest
        .join('\n')
        .split('\0')
        .filter((entry) => entry !== '')
        .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    );
    // These a bash adds to whatever it starts.
    if (shellName === 'bash') for (const name of ['_', 'SHLVL']) delete environment[name];
    expect(environment).toEqual({ ...session.launch.environment, PWD: workspace.root, PAWL_SESSION: session.marker });
  });

  test('a signal that ended the command is recorded as 128 + n, even if the whole group gets it', async () => {
    for (const [signal, code] of [
      ['SIGTERM', 143],
      ['SIGINT', 130],
      ['SIGHUP', 129],
    ] as const) {
      const session = spec('exec sleep 600');
      const identity = await startSession(host, session);
      await eventually(async () => {
        const { childPid } = await findSession(session.dir);
        return childPid !== null && readFileSync(`/proc/${childPid}/cmdline`, 'utf8').startsWith('sleep');
      });
      process.kill(-identity.pid, signal);
      expect(await exitCode(session.dir)).toBe(code);
      await eventually(() => !isAlive(identity));
    }
  });

  test('a prompt of a megabyte arrives whole, and input comes after it', async () => {
    const prompt = 'abcdefgé\n'.repeat(104_858);
    const session = spec('sleep 0.1; exec cat', { prompt });
    await startSession(host, session);
    await sendInput(host, session.dir, 'after');
    await closeInput(host, session.dir);
    expect(await exitCode(session.dir)).toBe(0);
    expect(textOf(session.dir, 'out') === `${prompt}after\n`).toBe(true);
  });

  test('nothing of the shim is left if the command ends without reading its prompt', async () => {
    const session = spec('exit 3', { prompt: 'x'.repeat(1_000_000) });
    const identity = await startSession(host, session);
    expect(await exitCode(session.dir)).toBe(3);
    await eventually(() => !isAlive(identity));
    await eventually(() => processTable.list().every(({ group, defunct }) => defunct || group !== identity.pid));
  });
});

test('a command that does not exist ends with 127, a missing directory or a plain file with 126', async () => {
  const missing = workspace.spec('', { command: 'no-such-command-here', args: [] });
  const nowhere = workspace.spec('echo ran', { cwd: join(workspace.root, 'nowhere') });
  const plain = join(workspace.root, 'plain');
  writeFileSync(plain, 'text', { mode: 0o600 });
  const notExecutable = workspace.spec('', { command: plain, args: [] });
  await Promise.all([missing, nowhere, notExecutable].map((each) => startSession(host, each)));
  expect(await exitCode(missing.dir)).toBe(127);
  expect(textOf(missing.dir, 'err')).toContain('no-such-command-here');
  expect(await exitCode(nowhere.dir)).toBe(126);
  expect(textOf(nowhere.dir, 'err')).toBe(
    `pawl: cannot enter the working directory ${nowhere.launch.directories.working}\n`,
  );
  expect(textOf(nowhere.dir, 'out')).toBe('');
  expect(await exitCode(notExecutable.dir)).toBe(126);
});

test('ten starts at the same instant run the command once', async () => {
  const session = workspace.spec('echo ran; exec cat');
  const identities = await Promise.all(Array.from({ length: 10 }, async () => startSession(host, { ...session })));
  expect(new Set(identities.map((identity) => JSON.stringify(identity))).size).toBe(1);
  await eventually(() => textOf(session.dir, 'out') !== '');
  await closeInput(host, session.dir);
  expect(await exitCode(session.dir)).toBe(0);
  expect(await startSession(host, session)).toEqual(identities[0]);
  expect(textOf(session.dir, 'out')).toBe('ran\n');
});

test('shims that race in one directory: one runs the command, the others exit', async () => {
  const session = workspace.spec('echo ran; exec cat', { prompt: 'once\n' });
  const start = join(import.meta.dirname, '../support/start.ts');
  const codes = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const [code] = (await once(spawn(process.execPath, [start, JSON.stringify(session)]), 'exit')) as [number];
      return code;
    }),
  );
  expect(codes).toEqual([0, 0, 0, 0, 0, 0]);
  await closeInput(host, session.dir);
  expect(await exitCode(session.dir)).toBe(0);
  expect(textOf(session.dir, 'out')).toBe('ran\nonce\n');
});

test('the command outlives a killed starter: input works, the exit code is recorded, a new start adopts [S3-20, 7.9]', async () => {
  const session = workspace.spec('cat; exit 5', { prompt: 'before\n' });
  const starter = spawn(
    process.execPath,
    [join(import.meta.dirname, '../support/start.ts'), JSON.stringify(session), 'stay'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  await once(starter.stdout, 'data');
  starter.kill('SIGKILL');
  await once(starter, 'exit');
  const found = await findSession(session.dir);
  expect(found).toMatchObject({ alive: true, claimed: true, exit: null });
  expect(await startSession(host, session)).toEqual(found.identity);
  await sendInput(host, session.dir, 'after');
  await closeInput(host, session.dir);
  expect(await exitCode(session.dir)).toBe(5);
  expect(textOf(session.dir, 'out')).toBe('before\nafter\n');
});

test('a start interrupted before the claim is repeated', async () => {
  const session = workspace.spec('cat', { stdin: 'file', prompt: 'whole prompt\n' });
  mkdirSync(session.dir, { mode: 0o700 });
  writeFileSync(join(session.dir, 'prompt'), 'whole pr');
  writeFileSync(join(session.dir, 'shim.sh'), 'exit 1');
  await startSession(host, session);
  expect(await exitCode(session.dir)).toBe(0);
  expect(textOf(session.dir, 'out')).toBe('whole prompt\n');
});

test('a shim killed at any moment of its start: another one runs the command, unless the dead one had claimed it', async () => {
  const seen = new Set<boolean>();
  const rounds = endurance({ whole: 20, small: 6 });
  for (let round = 0; round < rounds; round += 1) {
    const session = workspace.spec('echo ran; exec cat', { prompt: 'x' });
    const record = prepareSession(session.dir, { prompt: session.prompt, group: null });
    const script = join(session.dir, 'shim.sh');
    const { command, arguments: words, environment } = session.launch;
    const shim = spawn('/bin/sh', [script, 'fifo', '/bin/sh', record, workspace.root, command, ...words], {
      cwd: session.dir,
      env: { ...environment, PAWL_SESSION: session.marker },
      stdio: 'ignore',
      detached: true,
    });
    // The first ones are killed before they can do much, the last one when it has made its claim.
    if (round > 0) await pause((round * 20) / rounds);
    if (round === rounds - 1) await eventually(() => existsSync(join(session.dir, 'pid')));
    shim.kill('SIGKILL');
    if (shim.exitCode === null && shim.signalCode === null) await once(shim, 'exit');
    const identity = await startSession(host, session);
    // A program that the dead shim had started may still have made the claim for it; then the command never runs.
    const ranByUs = identity.pid !== shim.pid;
    seen.add(ranByUs);
    if (ranByUs) await eventually(() => textOf(session.dir, 'out') === 'ran\nx');
    else expect(textOf(session.dir, 'out')).toMatch(/^(ran\nx?)?$/);
    expect(isAlive(identity)).toBe(ranByUs);
  }
  // How far the first ones come is up to the machine; the last one has made its claim.
  expect(seen.has(false)).toBe(true);
});

test('without /proc, a shim identifies itself by ps', () => {
  const identify = shimScript.slice(0, shimScript.indexOf('if [ "$1" = run ]')).replaceAll('/proc/', '/nowhere/');
  for (const shell of ['/bin/sh', bashAsSh(workspace.root)]) {
    const text = execFileSync(shell, ['-c', `${identify}\npawl_shim_identify`], { encoding: 'utf8' });
    const [pid, boot = '', moment = ''] = text.split('\n');
    expect(boot).toBe('ps');
    const start = psTable.parseStart(Number(pid), boot, moment) ?? '';
    expect(Math.abs(startOrder(start) - Date.now() / 1000)).toBeLessThan(30);
  }
});

test('directory and files are private, whatever the umask', async () => {
  const before = process.umask(0);
  try {
    const session = workspace.spec('umask');
    await startSession(host, session);
    expect(await exitCode(session.dir)).toBe(0);
    expect(textOf(session.dir, 'out').trim()).toMatch(/^0+$/);
    expect(statSync(session.dir).mode & 0o777).toBe(0o700);
    const modes = readdirSync(session.dir).map((name) => [name, statSync(join(session.dir, name)).mode & 0o777]);
    expect(modes.filter(([, mode]) => mode !== 0o600)).toEqual([]);
  } finally {
    process.umask(before);
  }
});

test.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
  'a full disk at the end of the command does not lose its exit code',
  async () => {
    const disk = join(workspace.root, 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]);
    try {
      const session = workspace.spec(`cat /dev/zero >'${disk}/filler'; echo lost; exit 9`, {
        dir: join(disk, 'session'),
      });
      const identity = await startSession(host, session);
      expect(await exitCode(session.dir)).toBe(9);
      expect(textOf(session.dir, 'out')).toBe('');
      expect(() => writeFileSync(join(disk, 'more'), 'x'.repeat(5_000))).toThrow(/ENOSPC/);
      await eventually(() => !isAlive(identity));
    } finally {
      execFileSync('umount', [disk]);
    }
  },
);

describe('refuses with a clear error', () => {
  test('arguments larger than the system allows', async () => {
    const session = workspace.spec('', { args: ['-c', ':', 'x'.repeat(3_000_000)] });
    await expect(startSession(host, session)).rejects.toMatchObject({
      code: 'host_failed',
      hint: /larger than the system/,
    });
    expect((await findSession(session.dir)).claimed).toBe(false);
  });

  test('an environment larger than the system allows', async () => {
    const session = workspace.spec(':', { env: { PATH: '/bin', HUGE: 'x'.repeat(3_000_000) } });
    await expect(startSession(host, session)).rejects.toMatchObject({ code: 'host_failed' });
  });

  test.each([
    ['a command that looks like an option', { command: '-c' }],
    ['an empty command', { command: '' }],
    ['a NUL', { args: ['a\0b'] }],
    ['a variable that a shell drops', { env: { 'a.b': '1' } }],
    ['a relative directory', { cwd: 'here' }],
    ['a marker with a space', { marker: 'no such marker' }],
  ])('%s', async (_name, changes) => {
    await expect(startSession(host, workspace.spec(':', changes))).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('a session directory that cannot be used', async () => {
    const session = workspace.spec(':');
    writeFileSync(session.dir, 'a file');
    await expect(startSession(host, session)).rejects.toThrow();
  });

  test('a shell that does not exist, and one that ends without a claim, at once', async () => {
    const none = workspace.spec(':', { shell: join(workspace.root, 'none') });
    await expect(startSession(host, none)).rejects.toMatchObject({ code: 'host_failed', message: /ENOENT/ });
    const broken = workspace.spec(':', { shell: '/bin/false' });
    await expect(startSession(host, broken)).rejects.toMatchObject({ code: 'host_failed', message: /ended with 1/ });
  });

  test('a shell that hangs, after the limit', async () => {
    const shell = join(workspace.root, 'hang');
    writeFileSync(shell, '#!/bin/sh\nexec sleep 600\n');
    chmodSync(shell, 0o700);
    const session = workspace.spec(':', { shell, startMs: 100 });
    await expect(startSession(host, session)).rejects.toMatchObject({ code: 'host_failed', message: /within 100 ms/ });
  });

  test('a directory whose pid file is garbage: nothing is started', async () => {
    const session = workspace.spec('echo ran');
    mkdirSync(session.dir);
    writeFileSync(join(session.dir, 'pid'), '12');
    await expect(startSession(host, session)).rejects.toMatchObject({ code: 'host_failed', message: /damaged/ });
    expect(existsSync(join(session.dir, 'out'))).toBe(false);
  });
});

test('many short sessions leave no zombie and each its exit code', async () => {
  const specs = Array.from({ length: endurance({ whole: 100, small: 30 }) }, (_, index) =>
    workspace.spec(`exit ${index % 50}`, { stdin: index % 2 ? 'file' : 'fifo' }),
  );
  const identities = [];
  for (let from = 0; from < specs.length; from += 10) {
    identities.push(...(await Promise.all(specs.slice(from, from + 10).map((each) => startSession(host, each)))));
  }
  const codes = await Promise.all(specs.map(async ({ dir }) => exitCode(dir)));
  expect(codes).toEqual(specs.map((_, index) => index % 50));
  const pids = new Set(identities.map(({ pid }) => pid));
  await eventually(() => processTable.list().every(({ pid, parent }) => !pids.has(pid) && !pids.has(parent)));
  expect(processTable.list().filter(({ parent, defunct }) => defunct && parent === process.pid)).toEqual([]);
});
