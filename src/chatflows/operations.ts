import type { AnyOperation } from '../operations/index.ts';
import { historyOperations } from './history-operations.ts';
import { keepOperations } from './keep-operations.ts';
import { readOperations } from './read-operations.ts';
import { writeOperations } from './write-operations.ts';

export const operations: readonly AnyOperation[] = [
  ...readOperations,
  ...historyOperations,
  ...keepOperations,
  ...writeOperations,
];
