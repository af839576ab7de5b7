import { readOperations } from './read-operations.ts';
import { stageOperations } from './stage-operations.ts';
import { taskOperations } from './task-operations.ts';
import { writeOperations } from './write-operations.ts';

export const operations = [...readOperations, ...writeOperations, ...stageOperations, ...taskOperations];
