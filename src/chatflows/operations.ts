import type { AnyOperation } from '../operations/index.ts';
import { keepOperations } from './keep-operations.ts';
import { readOperations } from './read-operations.ts';
import { writeOperations } from './write-operations.ts';

export const operations: readonly AnyOperation[] = [...readOperations, ...keepOperations, ...writeOperations];
