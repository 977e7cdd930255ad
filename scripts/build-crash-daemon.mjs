// Builds the daemon as published, but with crash points, for the tests that kill it there. It is in its own directory,
// and finds the other programs in the bundle. Beside it is the substitute for `gh`.
import { build } from 'esbuild';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { commonBuild, daemonBuild } from './build-settings.mjs';

const root = join(import.meta.dirname, '..');
const finished = join(root, '.cache', 'crash-daemon');
const outdir = `${finished}.${process.pid}`;
mkdirSync(outdir, { recursive: true });
await build({ ...daemonBuild(root, outdir), define: { PAWL_BUNDLE: 'true' } });
await build({
  ...commonBuild(root, outdir),
  target: 'node24',
  entryPoints: { 'fake-gh': join(root, 'packages', 'testing', 'src', 'fake-gh', 'bin.ts') },
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
