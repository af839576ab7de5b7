#!/usr/bin/env node
import { runCli } from './surfaces/cli/run.ts';

process.exitCode = await runCli(process.argv.slice(2), process.env);
