import { defineConfig } from 'vitest/config';

const MEASURED = 'test/performance/**/*.test.ts';

export default defineConfig({
  test: {
    reporters: ['default', './test/support/closing-line.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    env: { FLOWRIGHT_HOME: '/nonexistent/flowright-tests-use-their-own-home', DATABASE_URL: '' },
    projects: [
      {
        extends: true,
        test: { name: 'tiers', include: ['test/**/*.test.ts'], exclude: [MEASURED], maxWorkers: 2 },
      },
      // What is measured runs alone, after the rest.
      {
        extends: true,
        test: { name: 'measured', include: [MEASURED], maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
