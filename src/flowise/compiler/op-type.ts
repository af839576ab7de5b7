import { hideSecretsInText } from '../../kernel/secret-text.ts';
import { didYouMean } from './similar.ts';

export const OP_TYPES = [
  'add_node',
  'remove_node',
  'set_param',
  'set_label',
  'connect',
  'disconnect',
  'bind_credential',
  'create_tool',
] as const;
export type OpType = (typeof OP_TYPES)[number];

/** What is wrong with an op_type that is none, and what may be meant: planners also write AddNode or addNode. */
export function opTypeProblem(type: unknown): string {
  const known = OP_TYPES.join(', ');
  if (type === undefined) return `is missing; it is one of ${known}`;
  if (typeof type !== 'string') return `must be one of ${known}`;
  const snake = type.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
  return `There is no operation ${hideSecretsInText(type).slice(0, 80)}${didYouMean(snake, OP_TYPES)}; there are ${known}`;
}
