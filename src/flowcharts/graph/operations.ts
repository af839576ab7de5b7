import type { AnyOperation } from '../../operations/index.ts';
import { flowchartOperations } from './flowchart-operations.ts';
import { graphOperations } from './graph-operations.ts';
import { transferOperations } from './transfer-operations.ts';
import { versionOperations } from './version-operations.ts';

export const operations: readonly AnyOperation[] = [
  ...flowchartOperations,
  ...graphOperations,
  ...versionOperations,
  ...transferOperations,
];
