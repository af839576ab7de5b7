import type * as z from 'zod';
import type { Issue } from '../../kernel/errors.ts';
import { issuesOf, jsonPointer } from '../../operations/index.ts';
import { isRecord } from './handles.ts';
import { hiddenIssue } from './hidden-issue.ts';
import { opTypeProblem } from './op-type.ts';
import { MAX_OPS, PatchOp } from './ops.ts';
import { didYouMean } from './similar.ts';

const MAX_CHARS = 2_000_000;
const FENCE = /^```[^\n`]*\n([\s\S]*?)\n?```$/;

/** Schemas by op_type. */
const SCHEMAS = new Map(
  PatchOp.options.map((schema) => [schema.shape.op_type.value as string, schema as z.ZodObject] as const),
);

export interface ParsedOps {
  ops: PatchOp[];
  errors: Issue[];
  warnings: Issue[];
}

/**
 * Operations as somebody wrote them: JSON text, perhaps inside a code fence, or a value. Keys that an operation does
 * not have are passed over with a warning, because models add remarks. Never throws; with errors there are no ops.
 */
export function parseOps(input: unknown): ParsedOps {
  const read = typeof input === 'string' ? readJson(input) : { value: input };
  if ('error' in read) return failed(read.error);
  const { value } = read;
  if (!Array.isArray(value)) {
    return failed(issue('invalid_type', 'must be a list of operations: [{"op_type": "add_node", …}]', []));
  }
  if (value.length > MAX_OPS) return failed(issue('too_big', `must have at most ${MAX_OPS} operations`, []));
  const parsed = value.map((entry, index) => parseOp(entry, index));
  const errors = parsed.flatMap((each) => each.errors);
  const ops = errors.length > 0 ? [] : parsed.flatMap((each) => each.ops);
  return { ops, errors, warnings: parsed.flatMap((each) => each.warnings) };
}

/** Text without the code fence around it. */
export function withoutFence(text: string): string {
  const trimmed = text.trim();
  return FENCE.exec(trimmed)?.[1] ?? trimmed;
}

function readJson(text: string): { value: unknown } | { error: Issue } {
  if (text.length > MAX_CHARS) return { error: issue('too_big', `has more than ${MAX_CHARS} characters`, []) };
  try {
    return { value: JSON.parse(withoutFence(text)) as unknown };
  } catch {
    return { error: issue('invalid_json', 'is not JSON; write a list of operations and nothing around it', []) };
  }
}

function parseOp(entry: unknown, index: number): ParsedOps {
  if (!isRecord(entry)) return failed(issue('invalid_type', 'must be an operation with an op_type', [index]));
  const { op_type: type } = entry;
  const schema = typeof type === 'string' ? SCHEMAS.get(type) : undefined;
  if (!schema) return failed(unknownType(type, index));
  const known = Object.entries(entry).filter(([key]) => Object.hasOwn(schema.shape, key));
  const others = Object.keys(entry).filter((key) => !Object.hasOwn(schema.shape, key));
  const warnings = others.map((key) =>
    issue(
      'key_ignored',
      `${String(type)} has no ${key.slice(0, 80)}${didYouMean(key, Object.keys(schema.shape))}; it was ignored`,
      [index, key],
    ),
  );
  const result = schema.safeParse(Object.fromEntries(known));
  if (result.success) return { ops: [result.data as PatchOp], errors: [], warnings };
  const errors = issuesOf(result.error).map((each) => ({
    ...each,
    message: each.message.endsWith(`(${String(type)})`) ? each.message : `${each.message} (${String(type)})`,
    path: `${jsonPointer(['ops', index])}${each.path}`,
  }));
  return { ops: [], errors, warnings };
}

function unknownType(type: unknown, index: number): Issue {
  return issue('op_type_unknown', opTypeProblem(type), [index, 'op_type']);
}

function failed(error: Issue): ParsedOps {
  return { ops: [], errors: [error], warnings: [] };
}

function issue(code: string, message: string, path: readonly PropertyKey[]): Issue {
  return hiddenIssue({ code, message, path: jsonPointer(['ops', ...path]) });
}
