import { isSecretField, isSomeKey } from './secret-fields.ts';
import { isBareWord, isOpaque, isPath, isValueLike } from './secret-words.ts';
import { REDACTED, SECRET_SHAPES } from './secrets.ts';

/**
 * Secrets inside text that people wrote: prompts, code, notes, headers, addresses. The secret part becomes `[secret]`,
 * the rest stays readable. Every rule looks at a bounded piece, so that the time is linear in the text.
 */
export function hideSecretsInText(text: string): string {
  if (text.length < SHORTEST_SHAPE && !TOLD_BY_CONTEXT.test(text)) return text;
  return hideAssigned(hideFlags(hideArguments(hideAddresses(hideSchemes(hideShapes(text))))));
}

/** Most texts are short words; only what has one of these characters can be told by more than its shape. */
const SHORTEST_SHAPE = 15;
const TOLD_BY_CONTEXT = /[\s:=@(]/;

/** With the parts that a shape needs not see to be sure, but that belong to the secret. */
const WHOLE_SHAPES = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*/,
  ...SECRET_SHAPES.filter((shape) => !/BEGIN|eyJ|^:/.test(shape.source)),
];
const SHAPES = new RegExp(WHOLE_SHAPES.map((shape) => shape.source).join('|'), 'g');

function hideShapes(text: string): string {
  return text.replace(SHAPES, REDACTED);
}

/** `Bearer abc…`. A word of prose has no digit and is short. */
const SCHEME = /\b(Bearer|Basic|Token)(\s{1,4})((?=[^\s"'`]{0,200}\d|[^\s"'`]{24})[A-Za-z0-9._~+/=-]{8,})/gi;

function hideSchemes(text: string): string {
  return text.replace(SCHEME, (_, scheme: string, space: string) => `${scheme}${space}${REDACTED}`);
}

/** `://user:password@host`; what follows a host's colon is a port. */
const ADDRESS = /(:\/\/[^/\s:@"'`]{0,200}:)([^\s"'`<>]{1,300})@/g;

function hideAddresses(text: string): string {
  if (!text.includes('@')) return text;
  return text.replace(ADDRESS, (whole, before: string, secret: string) =>
    /^\d{1,5}(?:[/?#]|$)/.test(secret) || isReference(secret) ? whole : `${before}${REDACTED}@`,
  );
}

/** `headers.set('Authorization', '…')`. */
const ARGUMENTS = /(\(\s{0,4}(["'`])([\w-]{2,80})\2\s{0,4},\s{0,4}(["'`]))([^"'`\n]{1,500})(?=\4)/g;

function hideArguments(text: string): string {
  return text.replace(ARGUMENTS, (whole, before: string, _quote, name: string, _opening, value: string) =>
    isSecretField(name) && isWorthHiding(value) ? `${before}${REDACTED}` : whole,
  );
}

/** `curl -u anna:…`, `--token …`. */
const LOGIN =
  /(?<=\s)((?:-[uU]|--(?:proxy-)?user)(?:\s{1,4}|=)?\\{0,3}["'`]?[^\s:"'`[\]{}$\\-][^\s:"'`\\]{0,100}:)([^\s"'`\\]{1,200})/g;
const FLAG = /(?<![\w-])(--?([a-z][\w-]{2,60})\s{1,4}\\{0,3}["'`]?)([^\s"'`\\-][^\s"'`\\]{2,200})/gi;
/** How far before its login the name of the program may stand. */
const COMMAND_CHARS = 400;

function hideFlags(text: string): string {
  if (!/\s-|^-/.test(text)) return text;
  const hidden = text.replace(LOGIN, (whole, before: string, secret: string, at: number) => {
    if (!isWorthHiding(secret) || /^\d{1,7}$/.test(secret)) return whole;
    const isLogin =
      /\b(?:curl|wget|http)\b/.test(text.slice(Math.max(0, at - COMMAND_CHARS), at)) || isValueLike(secret);
    return isLogin ? `${before}${REDACTED}` : whole;
  });
  return hidden.replace(FLAG, (whole, before: string, name: string, secret: string) =>
    isSecretField(name) && isWorthHiding(secret) && isValueLike(secret) ? `${before}${REDACTED}` : whole,
  );
}

/** A name, a colon or an equals sign, perhaps what the value falls back from, and the opening quote of the value. */
const ASSIGNMENT = new RegExp(
  [
    // Not the mask itself, which a second look would take for a name.
    /(?<![\w-])(?!secret\])-{0,2}((?:(?:api|access|secret|private|auth) )?[A-Za-z][\w-]{1,80})/,
    /(\\{0,6}["'`]?\]?\s{0,4}(?:=>|:=|:(?!:)|=(?![=>])|\bis\b)\s{0,4})/,
    /(?:[\w.$]{1,80}\s{0,4}(?:\|\||\?\?)\s{0,4})?(\\{0,6}["'`]|)/,
  ]
    .map((part) => part.source)
    .join(''),
  'gi',
);
const UNQUOTED = /[^\s"'`,;&<>(){}[\]\\|#]+/y;
const REST_OF_LINE = /[^\n\r"'`\\<>]*/y;
const WHOLE_LINE_NAME = /^(?:proxy-)?authorization$|^(?:set-)?cookie$/i;

/** `password = "…"`, `api_key=…`, `Authorization: …`, in code, JSON that does not parse, queries and prose. */
function hideAssigned(text: string): string {
  let shown = '';
  let kept = 0;
  ASSIGNMENT.lastIndex = 0;
  for (let found = ASSIGNMENT.exec(text); found !== null; found = ASSIGNMENT.exec(text)) {
    const [, name = '', separator = '', quote = ''] = found;
    const isSecret = isSecretField(name);
    if (!isSecret && !isSomeKey(name)) {
      // The value may itself be a name: `token: apiKey = …`.
      ASSIGNMENT.lastIndex = found.index + name.length + 1;
      continue;
    }
    const start = ASSIGNMENT.lastIndex;
    const end = quote === '' ? endOfUnquoted(text, start, name) : endOfQuoted(text, start, quote);
    const value = text.slice(start, end);
    if (!isSecret && !isOpaque(value)) {
      ASSIGNMENT.lastIndex = found.index + name.length + 1;
      continue;
    }
    ASSIGNMENT.lastIndex = Math.max(end, start);
    if (!isWorthHiding(value) || (quote === '' && !looksTyped(text, value, separator, end, name))) continue;
    shown += text.slice(kept, start) + REDACTED;
    kept = end;
  }
  return kept === 0 ? text : shown + text.slice(kept);
}

function endOfQuoted(text: string, start: number, quote: string): number {
  let end = text.indexOf(quote, start);
  // A quote behind a backslash belongs to the value, unless all the quotes here are written so.
  while (quote.length === 1 && end > start && text[end - 1] === '\\') end = text.indexOf(quote, end + 1);
  return end < 0 ? text.length : end;
}

function endOfUnquoted(text: string, start: number, name: string): number {
  const pattern = WHOLE_LINE_NAME.test(name) ? REST_OF_LINE : UNQUOTED;
  pattern.lastIndex = start;
  return start + (pattern.exec(text)?.[0].length ?? 0);
}

const WORDS_OF_TYPES =
  /^(?:string|str|number|int|integer|bool|boolean|object|array|any|unknown|null|none|undefined|true|false|required|optional|password|text|secret|token|yes|no|\*+|x{3,}|\.{2,})$/i;

function isWorthHiding(value: string): boolean {
  const bare = value.trim();
  return bare !== '' && !WORDS_OF_TYPES.test(bare) && !isReference(bare) && bare !== REDACTED;
}

/**
 * Without quotes it may be prose or an expression of code. A secret is glued to its `=`, or it looks like one, or it is
 * a word that stands alone: "the secret: be kind" and `token = await next()` are to stay readable.
 */
function looksTyped(text: string, value: string, separator: string, end: number, name: string): boolean {
  if (WHOLE_LINE_NAME.test(name)) return true;
  if (/^(?:\$|process\.|this\.|await$|new$|typeof$)/.test(value) || text[end] === '(') return false;
  if (separator === '=') return true;
  if (value.length < 6 || (isPath(value) && !/\d/.test(value))) return false;
  if (isValueLike(value)) return true;
  if (/:/.test(separator) && /^[ \t]*(?:\r?\n|$)/.test(text.slice(end, end + 8))) return true;
  if (!/[:=]/.test(separator) || !isBareWord(value) || isSecretField(value)) return false;
  return NO_PROSE_NAME.test(name) || STANDS_ALONE.test(text.slice(end, end + 60));
}

/** Nobody writes a sentence about these. */
const NO_PROSE_NAME = /^(?:pass|pwd|passwd|passphrase)$/i;
/** At most one more word, and the line or the clause is over. */
const STANDS_ALONE = /^(?:[ \t]+[A-Za-z]{1,20})?[ \t]*(?:[.,;!](?:\s|$)|[\r\n]|$)/;

const REFERENCES = /\{\{[^{}]{1,300}\}\}|\$\{[^{}]{1,300}\}|\$vars\.\w+/g;
const SCHEMES = /\b(?:bearer|basic|token)\b/gi;

/** Made of nothing but references such as `Bearer {{$vars.key}}`: it says where the secret is, not what it is. */
export function isReference(text: string): boolean {
  if (!text.includes('{{') && !text.includes('$')) return false;
  return text.replace(REFERENCES, '').replace(SCHEMES, '').trim() === '';
}
