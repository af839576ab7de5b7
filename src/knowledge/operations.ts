import type { AnyOperation } from '../operations/index.ts';

export const operations: readonly AnyOperation[] = [];
