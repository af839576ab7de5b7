import type { Document, Scalar, ScalarTag, YAMLMap } from 'yaml';
import { yaml } from '../kernel/yaml.ts';
import { frontmatterFault } from './frontmatter-limits.ts';
import { MAX_FRONT_BLOCK_BYTES } from './limits.ts';

/**
 * The front block of a note: YAML between two lines of `---`. What is written is read back as the same values: texts
 * that look like numbers, dates or switches are quoted. Reading is strict where guessing would lose something: a block
 * that cannot be read is damaged, not empty.
 */
export type ReadFrontmatter =
  | { state: 'read'; frontmatter: Record<string, unknown> }
  /** Some other text between two rules: the note simply begins with it. */
  | { state: 'other' }
  | { state: 'damaged'; reason: string };

/** Beyond this depth values stand on one line, so that indentation does not outgrow them. */
const BLOCK_DEPTH = 2;
/** Aliases may stand for values elsewhere in the block, but not multiply them. */
const MAX_ALIASES = 100;
/** What some readers of YAML take for a line break or the start of a file. */
const ODD_CHARACTERS = /[\u0085\u2028\u2029\ufeff\ufffe\uffff]/;

export function readFrontmatter(block: string): ReadFrontmatter {
  if (Buffer.byteLength(block) > MAX_FRONT_BLOCK_BYTES) {
    return damaged(`it has more than ${MAX_FRONT_BLOCK_BYTES} bytes`);
  }
  try {
    return valuesOf(block);
  } catch (error) {
    // The parser throws on aliases without end, and where text nests too deep for its recursion.
    return damaged(error instanceof RangeError ? 'it nests too deep' : firstLine((error as Error).message));
  }
}

function valuesOf(block: string): ReadFrontmatter {
  const document = yaml().parseDocument(block, {
    schema: 'core',
    customTags: (tags) => [...tags.filter((tag) => typeof tag === 'string' || !isNumberTag(tag)), JSON_NUMBER],
    merge: false,
    // Explicit tags make nothing but text: no bytes, no sets, no dates.
    resolveKnownTags: false,
    stringKeys: true,
    // Its own check for repeated keys takes time in the square of their number.
    uniqueKeys: false,
    logLevel: 'error',
    prettyErrors: false,
  });
  const { contents } = document;
  const [fault] = document.errors;
  if (fault) return damaged(firstLine(fault.message));
  if (contents === null || isEmpty(contents)) return { state: 'read', frontmatter: {} };
  if (!yaml().isMap(contents)) return { state: 'other' };
  const repeated = repeatedKey(document);
  if (repeated !== null) return damaged(`the key ${repeated.slice(0, 100)} is there twice`);
  const frontmatter = document.toJS({ maxAliasCount: MAX_ALIASES }) as Record<string, unknown>;
  const limits = frontmatterFault(frontmatter);
  return limits ? damaged(`it ${limits}`) : { state: 'read', frontmatter };
}

function damaged(reason: string): ReadFrontmatter {
  return { state: 'damaged', reason };
}

function isEmpty(node: unknown): boolean {
  return yaml().isScalar(node) && node.value === null && (node.source ?? '') === '';
}

/** The last of two equal keys would silently win. */
function repeatedKey(document: Document): string | null {
  let repeated: string | null = null;
  yaml().visit(document, {
    Map: (_, map: YAMLMap) => {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const name = String((key as Scalar).value);
        if (seen.has(name)) repeated ??= name;
        seen.add(name);
      }
    },
  });
  return repeated;
}

/** YAML with a line end after it; empty without values. */
export function printFrontmatter(frontmatter: Record<string, unknown>): string {
  if (Object.keys(frontmatter).length === 0) return '';
  const document = new (yaml().Document)(frontmatter, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  yaml().visit(document, {
    Collection: (_, node, path) => {
      const depth = path.filter((above) => yaml().isCollection(above)).length;
      if (depth >= BLOCK_DEPTH) node.flow = true;
    },
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && ODD_CHARACTERS.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER });
}

/**
 * A number is what JSON would write as one and can hold exactly. Everything else that YAML counts as a number (0123,
 * +49 170…, 0x1F, .inf, twenty digits) stays the text it is, and so survives being written back.
 */
const JSON_NUMBER: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/,
  resolve: (source) => {
    const number = Number(source);
    const isExact = String(number) === source || number === 0 || /[.eE]/.test(source);
    return Number.isFinite(number) && isExact ? number : source;
  },
};

function isNumberTag({ tag }: { tag: string }): boolean {
  return tag === 'tag:yaml.org,2002:int' || tag === 'tag:yaml.org,2002:float';
}

function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').slice(0, 200).replace(/[.:]$/, '');
}
