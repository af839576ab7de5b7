import { readOperations } from './read-operations.ts';
import { writeOperations } from './write-operations.ts';

export const operations = [...readOperations, ...writeOperations];
