import { defineConfig } from 'vitest/config';

/** Tests with the real coding CLIs, which `npm run test:real` installs first. */
export default defineConfig({
  test: {
    include: ['test/real/*.real.ts'],
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 480_000,
    hookTimeout: 240_000,
  },
});
