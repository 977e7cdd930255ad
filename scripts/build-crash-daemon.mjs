// Builds the daemon as published, but with crash points, for the tests that kill it there. It is in its own directory,
// and finds the other programs in the bundle. Beside it are the substitute for `gh`, and programs that tests start and
// kill dozens of times: from source they take four times as long.
import { build } from 'esbuild';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { commonBuild, daemonBuild } from './build-settings.mjs';

const root = join(import.meta.dirname, '..');
const finished = join(root, '.cache', 'crash-daemon');
const outdir = `${finished}.${process.pid}`;
mkdirSync(outdir, { recursive: true });
const source = (path) => join(root, 'packages', path);
const crashing = { ...daemonBuild(root, outdir), define: { PAWL_BUNDLE: 'true' } };
await build(crashing);
await build({
  ...crashing,
  entryPoints: { 'git-child': source('git/test/crash-child.ts'), 'store-child': source('store/test/child/act.ts') },
});
await build({
  ...commonBuild(root, outdir),
  target: 'node24',
  entryPoints: { 'fake-gh': source('testing/src/fake-gh/bin.ts') },
});
for (const name of [
  'pawl.mjs',
  'scripted-agent.mjs',
  'bridge.mjs',
  'git-helper.mjs',
  'pawl-engine.mjs',
  'proxy.mjs',
  'model-server.mjs',
  'agents',
  'prompts',
])
  symlinkSync(join(root, 'dist', name), join(outdir, name));
rmSync(finished, { recursive: true, force: true });
renameSync(outdir, finished);
