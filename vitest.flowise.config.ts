import { defineConfig } from 'vitest/config';

/** Against a real Flowise; see scripts/flowise/live.sh. Not part of `npm test`. */
export default defineConfig({
  test: {
    include: ['test/flowise/**/*.live.ts'],
    globalSetup: ['test/flowise/announce.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: 'forks',
    maxWorkers: 1,
    env: { FLOWRIGHT_HOME: '/nonexistent/flowright-tests-use-their-own-home', DATABASE_URL: '' },
  },
});
