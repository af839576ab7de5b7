export { Policy } from './policy.ts';
export type { RubricItem } from './rubric.ts';
export { flag, isUnder, NO_TRIGGERS } from './triggers.ts';
