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
 * An `import` of a Node module reads all its exports, and some of those load a lot: a WebSocket client, the standard
 * streams. Loaded this way, a module provides only the exports that the bundle uses, once for all files that import it;
 * that halves the start time of a short command.
 */
const plainBuiltins = {
  name: 'plain-builtins',
  setup(builder) {
    builder.onResolve({ filter: /.*/ }, ({ path, kind }) =>
      isBuiltin(path) && kind === 'import-statement'
        ? { path: path.replace(/^(node:)?/, 'node:'), namespace: 'builtin', sideEffects: false }
        : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({ contents: builtinModule(path) }));
  },
};

/** A module that exports each name of a Node module. The bundler drops unused names. */
function builtinModule(path) {
  const names = Object.keys(process.getBuiltinModule(path)).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name));
  const exported = names.filter((name) => name !== 'default').map((name, index) => [name, `member${index}`]);
  return [
    `const whole = /* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(path)});`,
    ...exported.map(([name, member]) => `const ${member} = /* @__PURE__ */ (() => whole.${name})();`),
    'export default whole;',
    `export { ${exported.map(([name, member]) => `${member} as ${name}`).join(', ')} };`,
  ].join('\n');
}

/** Settings of all programs. */
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
    // Its build for Node is CommonJS, which neither splits nor starts as fast.
    alias: { yaml: join(root, 'node_modules', 'yaml', 'browser', 'index.js') },
    plugins: [plainBuiltins, withoutLocales],
    logLevel: 'warning',
  };
}

export function daemonBuild(root, outdir) {
  return {
    ...commonBuild(root, outdir),
    target: 'node24',
    entryPoints: { daemon: join(root, 'packages', 'daemon', 'src', 'main.ts') },
    // Some of the daemon's libraries are CommonJS and require Node modules at run time.
    banner: {
      js: "import{createRequire as __pawlRequire}from'node:module';const require=__pawlRequire(import.meta.url);",
    },
  };
}
