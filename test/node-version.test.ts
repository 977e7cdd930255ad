import { temporaryDirectory } from '@pawl/testing/temporary';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Runs the check that npm runs before an installation, as if this Node had another version. */
async function checked(version: string, { checkout }: { checkout: boolean }) {
  await using place = await temporaryDirectory();
  mkdirSync(join(place.path, 'scripts'));
  if (checkout) mkdirSync(join(place.path, 'packages'));
  const script = join(place.path, 'scripts', 'check-node.cjs');
  copyFileSync(join(root, 'scripts', 'check-node.cjs'), script);
  const pretend = join(place.path, 'pretend.cjs');
  writeFileSync(pretend, `Object.defineProperty(process.versions, 'node', { value: ${JSON.stringify(version)} });`);
  const { status, stderr } = spawnSync(process.execPath, ['--require', pretend, script], { encoding: 'utf8' });
  return { status, lines: stderr.split('\n').filter(Boolean) };
}

test.each([
  ['18.20.0', true, 'Node 20.0 or newer; this is 18.20.0'],
  ['20.1.0', false, 'Node 24.15 or newer; this is 20.1.0'],
  ['24.14.9', false, 'Node 24.15 or newer; this is 24.14.9'],
])('Node %s is reported as too old in one line (checkout: %s)', async (version, checkout, message) => {
  const { status, lines } = await checked(version, { checkout });
  expect(status).toBe(1);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(message);
});

test.each([
  ['20.0.0', true],
  ['24.15.0', false],
  ['25.0.0', false],
])('Node %s is accepted (checkout: %s)', async (version, checkout) => {
  expect(await checked(version, { checkout })).toEqual({ status: 0, lines: [] });
});

test('package.json, the check and the program agree on the required Node', () => {
  const { engines, devEngines, scripts, files } = JSON.parse(read('package.json')) as {
    engines: { node: string };
    devEngines: { runtime: { version: string } };
    scripts: { preinstall: string };
    files: string[];
  };
  const required = /const required = \[(\d+), (\d+)\]/.exec(read('packages/cli/src/bin.ts'));
  expect(engines.node).toBe(`>=${required?.[1]}.${required?.[2]}.0`);
  expect(read('scripts/check-node.cjs')).toContain(`[${required?.[1]}, ${required?.[2]}]`);
  expect(devEngines.runtime.version).toBe('>=20');
  expect(read('scripts/setup.mjs')).toContain('requireNode(20)');
  // The check is of use only where it comes along.
  expect(scripts.preinstall).toBe('node scripts/check-node.cjs');
  expect(files).toContain('scripts/check-node.cjs');
});
