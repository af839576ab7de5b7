#!/usr/bin/env node
import { runCli } from './surfaces/cli/run.ts';

// Whoever reads our output may stop early, as `head` does; that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

// A command may have set a code of its own, for an answer that is bad news rather than a refusal.
const code = await runCli(process.argv.slice(2), process.env);
if (code !== 0) process.exitCode = code;
