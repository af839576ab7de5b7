import type { Reporter, TestModule } from 'vitest/node';

/** Ends the run with one line of counts, and sees to it that a failure is one for whoever started the run. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state === 'pending' ? 'skipped' : state] += 1;
      }
      if (
        module.state() === 'failed' &&
        ![...module.children.allTests()].some((test) => test.result().state === 'failed')
      ) {
        counts.failed += 1;
      }
    }
    // The embedded PostgreSQL ends the process with 0 of its own accord; only an exit listener has the last word.
    if (counts.failed > 0 || errors.length > 0) process.on('exit', () => (process.exitCode = 1));
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
    console.log(`\n${counts.passed} passed, ${counts.failed} failed${skipped}`);
  }
}
