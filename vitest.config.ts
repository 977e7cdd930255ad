import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Files that take much memory. A process that keeps it would start every later program slowly, so they get their own. All others share processes, and load what they test once. */
const large = ['packages/daemon/test/sessions/hostile-output.test.ts', 'packages/store/test/contract.test.ts'];

export default defineConfig({
  test: {
    globalSetup: 'test/build.ts',
    pool: 'forks',
    // As the daemon has it. A process that starts programs copies its page tables each time, so small is fast.
    execArgv: ['--max-semi-space-size=2'],
    // Node runs our sources as they are: nothing is transformed, and each process loads them in half of the time.
    experimental: { viteModuleRunner: false },
    // Most tests wait for processes: with three at a time a sixth of two cores is idle.
    maxWorkers: Math.max(5, availableParallelism()),
    // Longer than any wait for a single fact (packages/testing/src/wait-until.ts), so that a failure names the fact.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: large,
          isolate: false,
          restoreMocks: true,
          unstubEnvs: true,
        },
      },
      {
        extends: true,
        test: {
          name: 'isolated',
          include: large,
        },
      },
    ],
  },
});
