import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Packages whose modules keep nothing that another test would see: their test files share a process, and load what they test once. */
const stateless = '{cli,core,daemon,engine,forge,git,mcp,protocol,providers,roster,schema,store,wire}';

export default defineConfig({
  test: {
    globalSetup: 'test/build.ts',
    pool: 'forks',
    // Most tests wait for processes more than they compute, so not even on a small machine one at a time.
    maxWorkers: Math.max(3, availableParallelism()),
    // Longer than any wait for a single fact (packages/testing/src/wait-until.ts), so that a failure names the fact.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: [`packages/${stateless}/test/**/*.test.ts`],
          isolate: false,
          restoreMocks: true,
          unstubEnvs: true,
        },
      },
      {
        extends: true,
        test: {
          name: 'isolated',
          include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [`packages/${stateless}/**`],
        },
      },
    ],
  },
});
