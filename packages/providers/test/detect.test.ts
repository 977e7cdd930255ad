import { temporaryDirectory } from '@pawl/testing/temporary';
import { patienceMs, waitUntil } from '@pawl/testing/wait-until';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { KnownVersions } from '@pawl/providers/detect';
import { detectProviders, findProgram, requireInstalled } from '../src/detect.ts';
import { definePreset } from '../src/preset/base.ts';
import { printedBy } from '../src/printed-by.ts';

async function setUp() {
  const place = await temporaryDirectory();
  const bin = join(place.path, 'bin');
  await mkdir(bin);
  return {
    path: place.path,
    bin,
    environment: { PATH: `${bin}:/usr/bin:/bin`, HOME: place.path, SECRET: 'hidden' },
    async program(name: string, script: string): Promise<string> {
      await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
      await chmod(join(bin, name), 0o755);
      return join(bin, name);
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

const preset = (name: string, more: object = {}) =>
  definePreset({ name, description: name, command: [name, 'run'], install: `npm i -g ${name}`, ...more });

describe('installed programs', () => {
  test('each program is found, with its version if it reports one', async () => {
    await using setup = await setUp();
    const one = await setup.program('one', 'echo "one-cli 1.2.3-beta (build 7)"');
    const two = await setup.program('two', 'exit 3');
    const four = await setup.program('four', 'exit 9');
    const presets = [
      preset('one'),
      preset('two'),
      preset('three'),
      preset('mute', { command: [four], version: null }),
      preset('live', { command: [process.execPath], program: 'one' }),
    ];
    expect(Object.fromEntries(await detectProviders(presets, setup.environment, new Map()))).toEqual({
      one: { path: one, version: '1.2.3-beta' },
      two: { path: two, version: null },
      three: { path: null, version: null },
      mute: { path: four, version: null },
      live: { path: one, version: '1.2.3-beta' },
    });
  });

  test('a program that is slow to report its version is asked again, with a longer timeout', async () => {
    await using setup = await setUp();
    const calls = join(setup.path, 'calls');
    await setup.program('one', `echo x >> '${calls}'; [ "$(wc -l < '${calls}')" -gt 1 ] || exec sleep 60; echo 4.5.6`);
    const found = await detectProviders([preset('one')], setup.environment, new Map(), [2_000, 60_000]);
    expect(found.get('one')?.version).toBe('4.5.6');
    expect(readFileSync(calls, 'utf8')).toBe('x\nx\n');
  });

  test('a version is read once, until the program changes', async () => {
    await using setup = await setUp();
    const calls = join(setup.path, 'calls');
    const write = (version: string) => setup.program('one', `echo x >> '${calls}'; echo ${version}`);
    const known: KnownVersions = new Map();
    const look = async () => (await detectProviders([preset('one')], setup.environment, known)).get('one')?.version;
    const path = await write('1.0.0');
    expect([await look(), await look()]).toEqual(['1.0.0', '1.0.0']);
    expect(readFileSync(calls, 'utf8')).toBe('x\n');
    await write('2.0.0');
    await utimes(path, 1, 1);
    expect(await look()).toBe('2.0.0');
  });

  test('the probe sees no secret of the daemon’s', async () => {
    await using setup = await setUp();
    const seen = join(setup.path, 'seen');
    await setup.program('one', `env > '${seen}'; echo 1.0`);
    await detectProviders([preset('one')], setup.environment, new Map());
    expect(readFileSync(seen, 'utf8')).not.toContain('hidden');
  });
});

describe('a program', () => {
  test('is looked up as a shell does, but never relative to the current directory', async () => {
    await using setup = await setUp();
    const one = await setup.program('one', 'true');
    const find = (program: string, path: string) => findProgram(program, { PATH: path });
    expect(await find('one', `/nowhere:${setup.bin}`)).toBe(one);
    expect(await find(one, '')).toBe(one);
    expect(await find('one', '')).toBeNull();
    expect(await find('one', '.:bin')).toBeNull();
    expect(await find('./one', setup.bin)).toBeNull();
    await mkdir(join(setup.bin, 'folder'));
    expect(await find('folder', setup.bin)).toBeNull();
    await writeFile(join(setup.bin, 'text'), 'x', { mode: 0o644 });
    expect(await find('text', setup.bin)).toBeNull();
  });

  test('that prints without end, or nothing at all, is ended with its children', async () => {
    await using setup = await setUp();
    const pidFile = join(setup.path, 'pid');
    const loud = await setup.program('loud', `sleep 600 & echo $! > '${pidFile}'; while :; do echo 1234567890; done`);
    const limit = { environment: setup.environment, timeoutMs: patienceMs, bytes: 100 };
    expect(await printedBy([loud], limit)).toHaveLength(100);
    await gone(pidFile);
    const mute = await setup.program('mute', `echo 1.5; sleep 600 & echo $! > '${pidFile}.2'; wait`);
    const watched = printedBy([mute], { ...limit, timeoutMs: 5_000 });
    expect(await watched).toBe('1.5\n');
    await gone(`${pidFile}.2`);
  });

  test('that cannot be started has no version', async () => {
    await using setup = await setUp();
    expect(await printedBy(['/nowhere/x'], { environment: {}, timeoutMs: 1_000, bytes: 10 })).toBe('');
    const broken = await setup.program('broken', '');
    await writeFile(broken, '#!/nowhere/sh\n');
    expect(await printedBy([broken], { environment: {}, timeoutMs: 1_000, bytes: 10 })).toBe('');
  });
});

test('a missing program is refused, with how to install it', async () => {
  await using setup = await setUp();
  await expect(requireInstalled(preset('one'), setup.environment)).rejects.toMatchObject({
    code: 'unknown_provider',
    message: 'The provider one needs one, which is not on the PATH.',
    hint: expect.stringContaining('npm i -g one') as string,
  });
  await setup.program('one', 'exit 1');
  await expect(requireInstalled(preset('one'), setup.environment)).resolves.toBeUndefined();
});

/** Waits until the process whose id is in a file has ended. */
async function gone(pidFile: string): Promise<void> {
  const pid = readFileSync(pidFile, 'utf8').trim();
  const state = () => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
  await waitUntil(() => !existsSync(`/proc/${pid}/stat`) || state() === 'Z', {
    what: `the process ${pid} to end`,
  });
}
