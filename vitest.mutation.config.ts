import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Tests for `npm run test:mutation`: those that are pure or in one process, without a build. */
export default defineConfig({
  resolve: {
    // Packages are found in the sandbox, not where node_modules links to: only there are they mutated.
    alias: [{ find: /^@pawl\/([^/]+)\/(.+)$/, replacement: join(import.meta.dirname, 'packages/$1/src/$2.ts') }],
  },
  test: {
    include: [
      'packages/core/test/**/*.test.ts',
      'packages/daemon/test/{prompts/prompts,platform/whole-files,mail/files/mirror}.test.ts',
    ],
    // Instrumented code is slow, so tests of speed say nothing here.
    testNamePattern: /^(?!.* is scanned quickly)/,
    // Stryker has its own limit for a mutant; this one only ends a hang of the first run.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
