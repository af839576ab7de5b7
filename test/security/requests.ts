import fc from 'fast-check';
import * as z from 'zod';
import type { AnyOperation, HttpRoute } from '../../src/operations/index.ts';
import type { Question } from './rest.ts';

/** What a generated request may use. */
export interface Pools {
  tokens: string[];
  /** Values that exist, by the name of the field; `note.put path` is for that operation alone. */
  values: Record<string, unknown[]>;
  /** Whole inputs by route, `POST /api/v1/flows`, where the parts of one must fit each other. */
  wholes: Record<string, fc.Arbitrary<Record<string, unknown>>>;
  /** Inputs by operation that are right as they are. They are sent so, with more fields, and with something spoilt. */
  right: Record<string, Record<string, unknown>[]>;
}

export interface GeneratedRequest extends Question {
  path: string;
  /** What it asks for, before it was put on the wire. */
  input: Record<string, unknown>;
}

interface Field {
  type?: string;
  enum?: string[];
  items?: Field;
  minimum?: number;
  maximum?: number;
}

const ODD_KEYS = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'vault_id', 'visibleScopes', 'x', ''];
const ODD_TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/json;charset=utf-16',
  'multipart/form-data',
  'x',
];

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ minLength: 60, maxLength: 1_500 }),
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    '\ud800',
    '\u202e',
    "' or 1=1 --",
    '../../etc/passwd',
    '%00',
    '$(x)',
    'null',
    '-0',
  ),
);
const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  anyText,
  fc.constantFrom(null, true, false, [], {}, [[]], { $ne: 1 }, -1, 0, 1.5, 1e308, -1e308, 2 ** 53, Number.MIN_VALUE),
  fc.integer(),
  fc.double(),
  fc.array(anyText, { maxLength: 3 }),
  fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
);
/** Any bytes that a header value may carry. */
const headerText = fc.string({
  unit: fc
    .oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }))
    .map((code) => String.fromCharCode(code)),
  maxLength: 140,
});

/** Requests for one route: mostly nearly right, sometimes anything at all. */
export function requestsFor(operation: AnyOperation, route: HttpRoute, pools: Pools): fc.Arbitrary<GeneratedRequest> {
  const whole = pools.wholes[`${route.method} ${route.path}`];
  const input = whole ? often(whole, spoilt(whole)) : mixed(operation, pools);
  const extra = often(fc.constant({}), fc.dictionary(fc.constantFrom(...ODD_KEYS), anyValue, { maxKeys: 2 }));
  return fc
    .record({ input, extra, headers: headersFor(pools), raw: often(fc.constant(undefined), anyText) })
    .map(({ input, extra, headers, raw }) => {
      const wanted = Object.assign(Object.create(null), input, extra) as Record<string, unknown>;
      return put(route, wanted, headers, raw);
    });
}

function mixed(operation: AnyOperation, pools: Pools): fc.Arbitrary<Record<string, unknown>> {
  const fields = fieldsOf(operation, pools);
  const inputs = pools.right[operation.name];
  if (!inputs) return fields;
  const right = fc.constantFrom(...inputs);
  const most = [
    { weight: 4, arbitrary: right },
    { weight: 2, arbitrary: spoilt(right) },
  ];
  // A generated id might delete what the others need.
  if (operation.effect === 'destructive') return fc.oneof(...most);
  const more = fc.tuple(fields, right).map(([generated, known]) => ({ ...generated, ...known }));
  return fc.oneof(...most, { weight: 2, arbitrary: more }, { weight: 1, arbitrary: fields });
}

function fieldsOf(operation: AnyOperation, pools: Pools): fc.Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [] } = z.toJSONSchema(operation.input, { io: 'input' }) as {
    properties?: Record<string, Field>;
    required?: string[];
  };
  const own = Object.entries(pools.values).flatMap(([key, known]) =>
    key.startsWith(`${operation.name} `) ? [[key.slice(operation.name.length + 1), known]] : [],
  );
  const values = { ...pools.values, ...Object.fromEntries(own) };
  const fields = Object.entries(properties).map(
    ([name, field]) => [name, often(goodValue(name, field, { ...pools, values }), anyValue)] as const,
  );
  return fc.record(Object.fromEntries(fields), { requiredKeys: required });
}

/** A whole input with something else in one of its places, or with a place less. */
function spoilt(whole: fc.Arbitrary<Record<string, unknown>>): fc.Arbitrary<Record<string, unknown>> {
  return fc.tuple(whole, fc.nat(), fc.option(anyValue, { nil: undefined })).map(([input, place, value]) => {
    const copy = structuredClone(input);
    const places = placesIn(copy);
    if (places.length === 0) return copy;
    const { holder, key } = places[place % places.length] as Place;
    if (value === undefined) delete holder[key];
    else holder[key] = value;
    return copy;
  });
}

interface Place {
  holder: Record<string, unknown>;
  key: string;
}

function placesIn(value: unknown): Place[] {
  if (value === null || typeof value !== 'object') return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])]);
}

function goodValue(name: string, field: Field, pools: Pools): fc.Arbitrary<unknown> {
  if (field.enum) return fc.constantFrom(...field.enum);
  if (field.type === 'integer')
    return fc.integer({ min: field.minimum ?? 1, max: Math.min(field.maximum ?? 300, 300) });
  if (field.type === 'boolean') return fc.boolean();
  if (field.type === 'array')
    return fc.array(goodValue(name, field.items ?? {}, pools), { minLength: 1, maxLength: 3 });
  const known = pools.values[name];
  if (known) return fc.constantFrom(...known);
  return field.type === 'object' ? fc.constant({ word: 'value' }) : fc.stringMatching(/^[a-z]{1,12}$/);
}

function headersFor(pools: Pools): fc.Arbitrary<Record<string, string>> {
  const token = fc.constantFrom(...pools.tokens).map((secret) => `Bearer ${secret}`);
  const vault = fc.constantFrom('default', 'team', '', 'nothere', '__proto__', 'constructor', 'a b', '../default');
  const usual = fc.record(
    {
      authorization: often(token, headerText),
      'x-vault-id': often(fc.constant('default'), fc.oneof(vault, headerText)),
      'x-request-id': headerText,
      'x-correlation-id': headerText,
    },
    { requiredKeys: ['authorization'] },
  );
  const odd = fc.oneof(
    headerText.map((cookie) => ({ cookie })),
    headerText.map((accept) => ({ accept })),
    headerText.map((origin) => ({ origin })),
    fc.constantFrom('localhost', 'evil.example').map((host) => ({ host })),
    fc.constantFrom(...ODD_TYPES, 'application/json').map((type) => ({ 'content-type': type })),
  );
  return fc.tuple(usual, often(fc.constant({}), odd)).map(([most, some]) => ({ ...most, ...some }));
}

function put(
  route: HttpRoute,
  input: Record<string, unknown>,
  given: Record<string, string>,
  raw: string | undefined,
): GeneratedRequest {
  const rest = { ...input };
  const path = route.path.replace(/\{([^}]+)\}/g, (_, parameter: string) => {
    const key = route.rename?.[parameter] ?? parameter;
    const value = rest[key];
    delete rest[key];
    return percent(value);
  });
  const headers = { ...given };
  if (route.method === 'GET' || route.method === 'DELETE') {
    const query = Object.entries(rest)
      .map(([key, value]) => `${percent(key)}=${percent(value)}`)
      .join('&');
    const body = route.method === 'DELETE' && raw !== undefined ? { raw } : {};
    return { method: route.method, path: query ? `${path}?${query}` : path, headers, input, ...body };
  }
  headers['content-type'] ??= 'application/json';
  return { method: route.method, path, headers, input, raw: raw ?? JSON.stringify(rest) };
}

const PLAIN_BYTE = /[A-Za-z0-9_.:@-]/;

/** Also what encodeURIComponent refuses: half characters become whatever bytes they become. */
function percent(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const encoded = [...Buffer.from(text, 'utf8')].map((byte) => {
    const character = String.fromCharCode(byte);
    return PLAIN_BYTE.test(character) ? character : `%${byte.toString(16).padStart(2, '0')}`;
  });
  return encoded.join('');
}

function often<T, U>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<U>): fc.Arbitrary<T | U> {
  return fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: odd });
}
