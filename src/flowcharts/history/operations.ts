import type { AnyOperation } from '../../operations/index.ts';
import { compareOperation } from './compare-operation.ts';
import { eventsOperation } from './events-operation.ts';
import { runOperations } from './run-operations.ts';
import { traceOperation } from './trace-operation.ts';

export const operations: readonly AnyOperation[] = [
  ...runOperations,
  traceOperation,
  compareOperation,
  eventsOperation,
];
