import type { DialectName } from '../database.ts';
import { foundation } from './0001-foundation.ts';
import { review } from './0002-review.ts';
import { flowcharts } from './0003-flowcharts.ts';
import { flowise } from './0004-flowise.ts';

/** In order; a migration that has landed is never edited. */
export const MIGRATIONS: ((dialect: DialectName) => string[])[] = [foundation, review, flowcharts, flowise];
