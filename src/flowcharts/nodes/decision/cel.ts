import { createRequire } from 'node:module';
import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { withinTime } from '../time-limit.ts';
import { reasonOf } from './conditions.ts';

export const MAX_CONDITION_LENGTH = 2_000;

/** What an expression may name: the fields of the input context. */
export const CONTEXT_NAMES = [
  'flowchart',
  'node',
  'upstream_nodes',
  'latest_upstream',
  'context_only_upstream_nodes',
  'dotted_upstream_nodes',
  'attachment_only_upstream_nodes',
  'trigger_sources',
  'context_only_sources',
  'pulled_dotted_sources',
  'attachment_only_sources',
  'pulled_attachment_sources',
  'context_only_source_count',
  'attachment_only_source_count',
  'propagated_attachments',
] as const;

const LIMITS = { maxAstNodes: 400, maxDepth: 40, maxListElements: 200, maxMapEntries: 100, maxCallArguments: 8 };
const LOOPS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
const MAX_NESTED_LOOPS = 2;

/** An expression that can be evaluated, or why it cannot. */
export type Compiled = { evaluate(context: object, milliseconds: number): unknown } | { invalid: string };

let environment: Environment | undefined;

/** Loaded with the first expression: most commands see none. */
function cel(): Environment {
  if (!environment) {
    const { Environment: Make } = createRequire(import.meta.url)(
      '@marcbachmann/cel-js',
    ) as typeof import('@marcbachmann/cel-js');
    const made = new Make({ limits: LIMITS, homogeneousAggregateLiterals: false });
    for (const name of CONTEXT_NAMES) made.registerVariable(name, 'dyn');
    // Numbers of JSON are doubles here; `score + 1` must not be an error because of that.
    for (const [sign, apply] of Object.entries(ARITHMETIC)) {
      made.registerOperator(`double ${sign} int`, (a: number, b: bigint) => apply(a, Number(b)));
      made.registerOperator(`int ${sign} double`, (a: bigint, b: number) => apply(Number(a), b));
    }
    made.registerOperator('double % double', (a: number, b: number) => a % b);
    environment = made;
  }
  return environment;
}

const ARITHMETIC: Record<string, (a: number, b: number) => number> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => {
    if (b === 0) throw new RangeError('division by zero');
    return a / b;
  },
  '%': (a, b) => a % b,
};

export function compileCel(text: string): Compiled {
  if (text.length > MAX_CONDITION_LENGTH) return { invalid: `is longer than ${MAX_CONDITION_LENGTH} characters` };
  try {
    const program = cel().parse(text);
    if (nestedLoops(program.ast) > MAX_NESTED_LOOPS) {
      return { invalid: `has more than ${MAX_NESTED_LOOPS} loops inside each other` };
    }
    const checked = program.check();
    if (!checked.valid) return { invalid: reasonOf(checked.error) };
    if (checked.type !== 'bool' && checked.type !== 'dyn') {
      return { invalid: `gives a ${checked.type}, not true or false` };
    }
    return {
      evaluate: (context, milliseconds) =>
        // Without a prototype, so that `constructor` and its like name nothing.
        withinTime(milliseconds, () => program(Object.assign(Object.create(null), context))),
    };
  } catch (thrown) {
    return { invalid: reasonOf(thrown) };
  }
}

function nestedLoops(node: unknown): number {
  if (Array.isArray(node)) return node.reduce<number>((most, each) => Math.max(most, nestedLoops(each)), 0);
  if (node === null || typeof node !== 'object' || !('op' in node)) return 0;
  const { op, args } = node as ASTNode;
  const isLoop = op === 'rcall' && LOOPS.has(String((args as unknown[])[0]));
  return nestedLoops(args) + (isLoop ? 1 : 0);
}
