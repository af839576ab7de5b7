import * as z from 'zod';

/** Text of any lines that every database and UTF-8 can hold: no NUL, no half of a character. */
export function freeText(maximum: number) {
  return z
    .string()
    .max(maximum)
    .regex(/^[^\p{Cs}\0]*$/u, 'must not hold NUL or half a character');
}

/** One line of text for a column or a header: no control characters, no half of a character. */
export function plainText(maximum: number) {
  return z
    .string()
    .max(maximum)
    .regex(/^[^\p{Cc}\p{Cs}\u2028\u2029]*$/u, 'must be one line without control characters');
}
