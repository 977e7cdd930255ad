import { build } from 'esbuild';
import { chmodSync, cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileEngine } from './compile-engine.mjs';
import { buildPage } from '../packages/web/build.mjs';
import { commonBuild, daemonBuild } from './build-settings.mjs';

const root = join(import.meta.dirname, '..');
// Build beside the old bundle and swap, so that a running program lacks files only between two renames, and never finds
// half of them.
const dist = join(root, 'dist.new');
const finished = join(root, 'dist');
const outdated = join(root, 'dist.old');
rmSync(dist, { recursive: true, force: true });

const common = commonBuild(root, dist);
const source = (path) => join(root, 'packages', path);
await build({
  ...common,
  entryPoints: { pawl: source('cli/src/bin.ts'), 'agent-roster': source('cli/src/agent-roster.ts') },
});
await build({
  ...common,
  target: 'node24',
  entryPoints: { 'scripted-agent': source('testing/src/scripted-agent/bin.ts') },
});
await build({
  ...common,
  target: 'node24',
  entryPoints: { bridge: source('bridge/src/bin.ts') },
});
await build({
  ...common,
  target: 'node24',
  // Each vendor's packages are loaded from a file of their own.
  entryPoints: { 'pawl-engine': source('engine/src/program/bin.ts') },
});
await build({
  ...common,
  target: 'node24',
  entryPoints: { 'git-helper': source('git/src/command/process-helper-main.ts') },
});
await build({
  ...common,
  target: 'node24',
  entryPoints: { proxy: source('proxy/src/bin.ts') },
});
await build({
  ...common,
  target: 'node24',
  entryPoints: { 'model-server': source('testing/src/model-server/bin.ts') },
});
await build(daemonBuild(root, dist));
await buildPage(join(dist, 'web'));

// The built-in definitions and prompts stay readable markdown.
cpSync(source('daemon/agents'), join(dist, 'agents'), { recursive: true });
cpSync(source('daemon/prompts'), join(dist, 'prompts'), { recursive: true });

// Each command is both a shell script, which finds the right Node, and the JavaScript that it runs.
const launcher = `#!/bin/sh
':' //; self=$(readlink -f -- "$0"); node=\${self%/*}/../node_modules/node/bin/node; [ -x "$node" ] || node=node; exec "\${PAWL_NODE:-$node}" "$self" "$@"
`;
for (const name of ['pawl', 'agent-roster']) {
  const path = join(dist, `${name}.mjs`);
  writeFileSync(path, launcher + readFileSync(path, 'utf8'));
  chmodSync(path, 0o755);
}

rmSync(outdated, { recursive: true, force: true });
if (existsSync(finished)) renameSync(finished, outdated);
renameSync(dist, finished);
rmSync(outdated, { recursive: true, force: true });
await compileEngine(finished);
