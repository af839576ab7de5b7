import { freeText, plainText } from '../operations/index.ts';

const MAX_INTENT = 8_000;

/** Fields that every way of proposing shares. */
export const Intent = freeText(MAX_INTENT).default('').describe('Why; recorded as it is, never obeyed');
export const ExternalRef = plainText(512).trim().describe('Pointer to where the wish comes from; never content');
export const IdempotencyKey = plainText(128)
  .min(1)
  .describe('Your own key for this request: sending it again gives the same proposal');
export { MAX_INTENT };
