import { createNoteProposal } from './create-operation.ts';
import { decideOperations } from './decide-operations.ts';
import { readOperations } from './read-operations.ts';

export const operations = [createNoteProposal, ...readOperations, ...decideOperations];
