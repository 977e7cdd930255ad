import { build } from 'esbuild';
import { chmodSync, cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
// Built beside the old one and then put in its place, so that a program which runs from it is without files only
// between two renames, and never finds half of them.
const dist = join(root, 'dist.new');
const finished = join(root, 'dist');
const outdated = join(root, 'dist.old');
rmSync(dist, { recursive: true, force: true });

/** Zod's messages in forty languages, of which we use the first. */
const withoutLocales = {
  name: 'without-locales',
  setup(builder) {
    builder.onLoad({ filter: /zod\/v4\/locales\/.*\.js$/ }, ({ path }) =>
      /(en|index)\.js$/.test(path) ? undefined : { contents: 'export default () => ({})' },
    );
  },
};

/**
 * An `import` of one of Node's own modules reads all its exports, and some of those load a great deal when they are read: a
 * WebSocket client, the three standard streams. Asked for like this, a module gives only what is used; that halves the time
 * a short command takes to start.
 */
const plainBuiltins = {
  name: 'plain-builtins',
  setup(builder) {
    builder.onResolve({ filter: /.*/ }, ({ path, kind }) =>
      isBuiltin(path) && kind === 'import-statement'
        ? { path: path.replace(/^(node:)?/, 'node:'), namespace: 'builtin' }
        : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }));
  },
};

const common = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  outdir: dist,
  outExtension: { '.js': '.mjs' },
  splitting: true,
  chunkNames: 'chunk-[name]-[hash]',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'eof',
  // Crash points exist in development only.
  define: { PAWL_BUNDLE: 'true', 'process.env.PAWL_CRASH_AT': 'undefined' },
  // Its build for Node is CommonJS, which neither splits nor starts as quickly.
  alias: { yaml: join(root, 'node_modules', 'yaml', 'browser', 'index.js') },
  plugins: [plainBuiltins, withoutLocales],
  logLevel: 'warning',
};

const source = (path) => join(root, 'packages', path);
await build({
  ...common,
  entryPoints: { pawl: source('cli/src/bin.ts'), 'agent-roster': source('cli/src/roster.ts') },
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
  entryPoints: { 'model-server': source('testing/src/model-server/bin.ts') },
});
await build({
  ...common,
  target: 'node24',
  entryPoints: { daemon: source('daemon/src/main.ts') },
  // Some of the daemon's libraries are CommonJS and ask for Node's own modules at run time.
  banner: {
    js: "import{createRequire as __pawlRequire}from'node:module';const require=__pawlRequire(import.meta.url);",
  },
});

// The built-in definitions and prompts stay what they are, markdown that a person can read.
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
