/** Mutation tests of core and of the small modules that put a whole file in place. Run by scripts/test-mutation.mjs. */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner', './scripts/mutation-prose.mjs'],
  ignorers: ['prose'],
  vitest: { configFile: 'vitest.mutation.config.ts' },
  mutate: [
    'packages/core/src/**/*.ts',
    'packages/daemon/src/{sessions/input-writer,platform/programs-file,agents/state-file}.ts',
    'packages/daemon/src/mail/{mail-body,files/mirror}.ts',
    'packages/store/src/directory/durable-file.ts',
  ],
  // The sandbox is a copy of the checkout; directories that these tests do not read stay out.
  ignorePatterns: ['dist', 'dist.*', '.cache/*', '!.cache/test-database', 'bench', 'demo'],
  tempDirName: '.cache/mutation/sandbox',
  // TypeScript 7 has no API with which Stryker could rewrite tsconfig.json.
  tsconfigFile: 'none.json',
  // A mutant of a module's constants needs all tests, one by one.
  ignoreStatic: true,
  concurrency: 2,
  timeoutMS: 20_000,
  reporters: ['clear-text', 'progress', 'json', 'html'],
  clearTextReporter: { allowColor: false, allowEmojis: false, reportTests: false },
  jsonReporter: { fileName: '.cache/mutation/report.json' },
  htmlReporter: { fileName: '.cache/mutation/report.html' },
  thresholds: { high: 90, low: 75, break: 75 },
};
