import { isBuiltin } from 'node:module';
import { join } from 'node:path';

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

/** What all programs are built with. */
export function commonBuild(root, outdir) {
  return {
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outdir,
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
}

/** How the daemon is built. */
export function daemonBuild(root, outdir) {
  return {
    ...commonBuild(root, outdir),
    target: 'node24',
    entryPoints: { daemon: join(root, 'packages', 'daemon', 'src', 'main.ts') },
    // Some of the daemon's libraries are CommonJS and ask for Node's own modules at run time.
    banner: {
      js: "import{createRequire as __pawlRequire}from'node:module';const require=__pawlRequire(import.meta.url);",
    },
  };
}
