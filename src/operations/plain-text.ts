import * as z from 'zod';

/** One line of text for a column or a header: no control characters, no half of a character. */
export function plainText(maximum: number) {
  return z
    .string()
    .max(maximum)
    .regex(/^[^\p{Cc}\p{Cs}\u2028\u2029]*$/u, 'must be one line without control characters');
}
