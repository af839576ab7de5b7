import { defineConfig } from 'vitest/config';

const MEASURED = 'test/performance/**/*.test.ts';
/** They put another file system under the program, and need modules of their own. */
const MOCKING = ['test/unit/note-full-disk.test.ts', 'test/unit/store-file-full-disk.test.ts'];

export default defineConfig({
  test: {
    reporters: ['default', './test/support/closing-line.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    env: { FLOWRIGHT_HOME: '/nonexistent/flowright-tests-use-their-own-home', DATABASE_URL: '' },
    projects: [
      // Files of a worker share their modules, which hold no state: loading them anew took half of a unit test.
      {
        extends: true,
        test: {
          name: 'tiers',
          include: ['test/**/*.test.ts'],
          exclude: [MEASURED, ...MOCKING],
          maxWorkers: 2,
          isolate: false,
        },
      },
      { extends: true, test: { name: 'mocking', include: MOCKING, maxWorkers: 2 } },
      // What is measured runs alone, after the rest.
      {
        extends: true,
        test: { name: 'measured', include: [MEASURED], maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
