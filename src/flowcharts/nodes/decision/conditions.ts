import type { Compiled } from './cel.ts';

/**
 * A condition in one of two forms. The simple one is for people: `path == literal`, `path != literal`,
 * `path contains text`, a path alone (is it true?), or one word (is it the route that was taken?). It applies only when
 * the whole text has that form; everything else is an expression.
 */
export type Condition =
  | { form: 'blank' }
  | { form: 'comparison'; path: string; operator: '==' | '!='; literal: string }
  | { form: 'contains'; path: string; text: string }
  | { form: 'path'; path: string }
  | { form: 'word'; word: string }
  | { form: 'expression'; text: string };

export interface Verdict {
  matched: boolean;
  reason: string;
  /** The place in the input context whose value decided. */
  path: string | null;
  /** It could not be told whether the condition holds; `reason` says why. */
  failed?: true;
}

/** Turns a text into something that can be evaluated; an argument, so that this file needs no parser. */
export type Compile = (text: string) => Compiled;

const PATH = '[A-Za-z_][A-Za-z0-9_]*(?:\\.[A-Za-z0-9_]+)*';
/** One token: quoted, a number, or a word that no expression could be meant by. */
const LITERAL = `"[^"\\\\]*"|'[^'\\\\]*'|[-+]?\\d+(?:\\.\\d+)?|[A-Za-z0-9_][A-Za-z0-9_.:@-]*`;
const COMPARISON = new RegExp(`^(${PATH})\\s*(==|!=)\\s*(${LITERAL})$`);
const CONTAINS = new RegExp(`^(${PATH})\\s+contains\\s+("[^"]*"|'[^']*'|[^"'&|()]+)$`, 'i');
const DOTTED = new RegExp(`^${PATH}$`);
const WORD = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;
const ROUTE_PATHS = [
  'latest_upstream.output_state.structured_output.route_key',
  'latest_upstream.routing_state.route_key',
];
const MAX_SHOWN = 80;
const MAX_REASON = 200;

export function readCondition(raw: string, names: readonly string[]): Condition {
  const text = raw.trim();
  if (text === '') return { form: 'blank' };
  const comparison = COMPARISON.exec(text);
  if (comparison) {
    const [, path = '', operator, literal = ''] = comparison;
    // Two places of the context are compared by an expression.
    const isPlace = literal.includes('.') && names.includes(literal.split('.')[0] ?? '');
    if (!isPlace) return { form: 'comparison', path, operator: operator as '==' | '!=', literal };
  }
  const contains = CONTAINS.exec(text);
  if (contains) return { form: 'contains', path: contains[1] ?? '', text: unquoted((contains[2] ?? '').trim()) };
  if (WORD.test(text) && !names.includes(text)) return { form: 'word', word: text };
  if (DOTTED.test(text)) return { form: 'path', path: text };
  return { form: 'expression', text };
}

/** Why a condition can never be evaluated; null when it can. */
export function conditionFault(raw: string, names: readonly string[], compile: Compile): string | null {
  const condition = readCondition(raw, names);
  if (condition.form !== 'expression') return null;
  const compiled = compile(condition.text);
  return 'invalid' in compiled ? compiled.invalid : null;
}

export function evaluateCondition(
  condition: Condition,
  context: object,
  compile: Compile,
  milliseconds: number,
): Verdict | { invalid: string } {
  switch (condition.form) {
    case 'blank':
      return { matched: false, reason: 'the condition is blank', path: null };
    case 'comparison':
      return compare(condition, context);
    case 'contains':
      return contains(condition, context);
    case 'path':
      return truth(condition.path, context);
    case 'word':
      return word(condition.word, context);
    case 'expression':
      return expression(condition.text, context, compile, milliseconds);
  }
}

/** A value by its dotted path: keys of objects, decimal places of lists; nothing that is inherited. */
export function lookUp(context: unknown, path: string): { value: unknown } | undefined {
  let value: unknown = context;
  for (const part of path.split('.').filter((each) => each !== '')) {
    if (value === null || typeof value !== 'object') return undefined;
    if (Array.isArray(value) && !/^\d+$/.test(part)) return undefined;
    if (!Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value === undefined ? undefined : { value };
}

function compare({ path, operator, literal }: Extract<Condition, { form: 'comparison' }>, context: object): Verdict {
  const found = lookUp(context, path);
  if (!found) return notFound(path);
  const isEqual = equals(found.value, literal);
  const matched = operator === '==' ? isEqual : !isEqual;
  return { matched, reason: `${path} is ${shown(found.value)}`, path };
}

/** Numbers compare as numbers, true and false and null by their words, everything else by its text. */
function equals(value: unknown, literal: string): boolean {
  const text = unquoted(literal);
  if (typeof value === 'number') return text.trim() !== '' && Number(text) === value;
  if (typeof value === 'boolean' || value === null) return text.toLowerCase() === String(value);
  return textOf(value) === text;
}

function contains({ path, text }: Extract<Condition, { form: 'contains' }>, context: object): Verdict {
  const found = lookUp(context, path);
  if (!found) return notFound(path);
  const wanted = text.toLowerCase();
  const { value } = found;
  const matched = Array.isArray(value)
    ? value.some((item) => textOf(item).toLowerCase() === wanted)
    : textOf(value).toLowerCase().includes(wanted);
  return { matched, reason: `${path} is ${shown(value)}`, path };
}

function truth(path: string, context: object): Verdict {
  const found = lookUp(context, path);
  if (!found) return notFound(path);
  return { matched: isTrue(found.value), reason: `${path} is ${shown(found.value)}`, path };
}

function isTrue(value: unknown): boolean {
  return typeof value === 'string' ? /^(1|true|yes|on)$/i.test(value.trim()) : Boolean(value);
}

/** One word: the route that the node before chose; `true` and `false` mean themselves. */
function word(text: string, context: object): Verdict {
  const wanted = text.toLowerCase();
  for (const path of ROUTE_PATHS) {
    const value = lookUp(context, path)?.value;
    if (typeof value === 'string' && value.trim().toLowerCase() === wanted) {
      return { matched: true, reason: `${path} is ${shown(value)}`, path };
    }
  }
  if (wanted === 'true' || wanted === 'false') {
    return { matched: wanted === 'true', reason: `the condition is ${wanted}`, path: null };
  }
  const routes = ROUTE_PATHS.flatMap((path) => lookUp(context, path) ?? []);
  const reason = routes.length > 0 ? `the route key is ${shown(routes[0]?.value)}` : 'there is no route key';
  return { matched: false, reason, path: null };
}

function expression(
  text: string,
  context: object,
  compile: Compile,
  milliseconds: number,
): Verdict | { invalid: string } {
  const compiled = compile(text);
  if ('invalid' in compiled) return compiled;
  try {
    const value = compiled.evaluate(context, milliseconds);
    if (typeof value === 'boolean') return { matched: value, reason: `the expression is ${value}`, path: null };
    return undecided(`the expression gives ${kindOf(value)}, not true or false`);
  } catch (thrown) {
    return undecided(`the expression failed: ${reasonOf(thrown)}`);
  }
}

function undecided(reason: string): Verdict {
  return { matched: false, reason, path: null, failed: true };
}

/** The one sentence of an error of an expression, without the picture of the place that its message has. */
export function reasonOf(thrown: unknown): string {
  const { summary, message } = (thrown ?? {}) as { summary?: unknown; message?: unknown };
  const text = typeof summary === 'string' ? summary : typeof message === 'string' ? message : 'it failed';
  return (text.split('\n')[0] ?? '').slice(0, MAX_REASON);
}

function notFound(path: string): Verdict {
  return { matched: false, reason: `path not found: ${path}`, path };
}

function unquoted(literal: string): string {
  return /^(["']).*\1$/s.test(literal) ? literal.slice(1, -1) : literal;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Enough of a value to see why; what it holds may be long. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'bigint') return 'a number';
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}
