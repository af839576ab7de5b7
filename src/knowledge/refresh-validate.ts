import { readFileSync } from 'node:fs';
import { type NodeInput, PARAM_TYPES } from '../flowise/index.ts';
import { isSecretShaped } from '../kernel/secrets.ts';
import { allowlisted } from './credential-entry.ts';
import { bannedKeys, CREDENTIAL_FIELDS } from './credential-lint.ts';
import { isNodeSchema } from './node-index.ts';
import { parseReference } from './reference.ts';
import { REFERENCE_FILE, referencePath } from './refresh-nodes.ts';
import { linted, type Part, type PartIssue, type PartReport } from './refresh-report.ts';
import type { RefreshTarget } from './refresh-target.ts';
import { readSnapshot, type SnapshotKind, snapshotPaths } from './snapshot-file.ts';
import { templateId } from './template-entry.ts';
import { isWorkdayAction } from './workday/action.ts';

export const KIND_OF: Record<Part, SnapshotKind> = {
  nodes: 'flowise_nodes',
  templates: 'flowise_templates',
  credentials: 'flowise_credentials',
  workday_mcp: 'workday_mcp',
  workday_api: 'workday_api',
};

type Fields = Record<string, unknown>;

/** Looks at what is on the disk and asks nobody: for CI, and before something is handed on. */
export function validatePart(target: RefreshTarget, part: Part): PartReport {
  const kind = KIND_OF[part];
  const issues = part === 'nodes' ? referenceIssues(target) : [];
  const folder = [target.folder, target.baselineDir].find((one) => readSnapshot(one, kind).state !== 'missing');
  if (folder === undefined) return linted(part, null, issues);
  const reading = readSnapshot(folder, kind);
  if ('reason' in reading) issues.push({ code: reading.state, message: `${reading.reason}.`, path: '' });
  const items = rawItems(folder, kind);
  if (items === null) return linted(part, 0, issues);
  if (reading.state === 'stub' && items.length > 0) {
    issues.push({ code: 'not_empty', message: 'is marked as a stub, so it must be empty.', path: '' });
  }
  issues.push(...CHECKS[part](items), ...duplicates(items, ID_OF[part]));
  return linted(part, items.length, issues);
}

/** Also of a file whose fingerprint is wrong: a forbidden key in it must be told. */
function rawItems(folder: string, kind: SnapshotKind): unknown[] | null {
  try {
    const items: unknown = JSON.parse(readFileSync(snapshotPaths(folder, kind).snapshot, 'utf8'));
    return Array.isArray(items) ? items : null;
  } catch {
    return null;
  }
}

function referenceIssues(target: RefreshTarget): PartIssue[] {
  let markdown: string;
  try {
    markdown = readFileSync(referencePath(target), 'utf8');
  } catch {
    return [{ code: 'missing', message: 'is not there.', path: REFERENCE_FILE }];
  }
  return parseReference(markdown).issues.map(({ code, message, line }) => ({
    code,
    message,
    path: `${REFERENCE_FILE} line ${line}:`,
  }));
}

const ID_OF: Record<Part, string> = {
  nodes: 'node_type',
  templates: 'template_id',
  credentials: 'credential_id',
  workday_mcp: 'action',
  workday_api: 'action',
};

const CHECKS: Record<Part, (items: unknown[]) => PartIssue[]> = {
  nodes: (items) => each(items, checkNode),
  templates: (items) => each(items, checkTemplate),
  credentials: checkCredentials,
  workday_mcp: (items) => each(items, checkAction),
  workday_api: (items) => each(items, checkAction),
};

type Say = (code: string, message: string, place?: string) => void;

function each(items: readonly unknown[], check: (item: Fields, say: Say) => void): PartIssue[] {
  const issues: PartIssue[] = [];
  for (const [at, item] of items.entries()) {
    const say: Say = (code, message, place = '') => issues.push({ code, message, path: `/${at}${place}` });
    if (item === null || typeof item !== 'object' || Array.isArray(item)) say('shape', 'is not an entry.');
    else check(item as Fields, say);
  }
  return issues;
}

/** Lints keys anywhere inside; never quotes a value. */
function checkCredentials(items: unknown[]): PartIssue[] {
  const banned = bannedKeys(items).map((path) => ({ code: 'banned_key', message: 'is a banned key.', path }));
  const told = new Set(banned.map(({ path }) => path));
  const others = each(items, (item, say) => {
    for (const key of Object.keys(item)) {
      const isAllowed = (CREDENTIAL_FIELDS as readonly string[]).includes(key);
      if (!isAllowed) say('not_allowed', 'is not on the allowlist.', `/${key}`);
      const value = item[key];
      if (isAllowed && typeof value === 'string' && isSecretShaped(value))
        say('secret', 'looks like a secret.', `/${key}`);
    }
    if (allowlisted(item) === null) say('shape', 'must have credential_id, name and type.');
  });
  return [...banned, ...others.filter(({ code, path }) => code !== 'not_allowed' || !told.has(path))];
}

function checkTemplate(item: Fields, say: Say): void {
  const { template_id, name, type, tags } = item;
  if (typeof template_id !== 'string' || typeof name !== 'string' || !Array.isArray(tags)) {
    say('shape', 'must have template_id, name and tags.');
  } else if (typeof type === 'string' && template_id !== templateId(type, name)) {
    say('id', 'is not the id of its type and name.', '/template_id');
  }
  if ('flowData' in item) say('flow_data', 'must not be kept in the snapshot.', '/flowData');
}

function checkAction(item: Fields, say: Say): void {
  if (!isWorkdayAction(item)) say('shape', 'must have action, description, input_schema and output_schema.');
}

function checkNode(item: Fields, say: Say): void {
  if (!isNodeSchema(item)) {
    say('shape', 'must have node_type, input_anchors, input_params and output_anchors.');
    return;
  }
  const { version, output_anchors, hideOutput, input_anchors, input_params } = item;
  if (typeof version !== 'number' || !(version > 0)) say('version', 'must be a number above 0.', '/version');
  if (output_anchors.length === 0 && hideOutput !== true) say('no_output', 'has no output.', '/output_anchors');
  input_anchors.forEach((input, at) => {
    checkInput(input, false, say, `/input_anchors/${at}`);
  });
  input_params.forEach((input, at) => {
    checkInput(input, true, say, `/input_params/${at}`);
  });
  output_anchors.forEach((output, at) => {
    if (output?.id !== output?.name) say('id', 'must equal the name.', `/output_anchors/${at}/id`);
  });
}

function checkInput(input: NodeInput, isParam: boolean, say: Say, place: string): void {
  const { id, name, type } = input ?? {};
  if (typeof name !== 'string' || name === '' || typeof type !== 'string') {
    say('shape', 'must have a name and a type.', place);
    return;
  }
  if (id !== name) say('id', 'must equal the name.', `${place}/id`);
  if (PARAM_TYPES.has(type) !== isParam) {
    say('misfiled', `is of type ${type}, which is ${isParam ? 'a class: an anchor' : 'filled in: a param'}.`, place);
  }
  if ((type === 'options' || type === 'multiOptions') && !Array.isArray(input.options)) {
    say('no_options', 'has no list of options.', place);
  }
  if (/^async/.test(type) && typeof input.loadMethod !== 'string') say('no_load_method', 'has no loadMethod.', place);
}

function duplicates(items: readonly unknown[], key: string): PartIssue[] {
  const first = new Map<unknown, number>();
  return items.flatMap((item, at) => {
    const id = (item as Fields | null)?.[key];
    if (id === undefined) return [];
    const earlier = first.get(id);
    if (earlier === undefined) {
      first.set(id, at);
      return [];
    }
    return [{ code: 'duplicate', message: `is the same ${key} as /${earlier}.`, path: `/${at}/${key}` }];
  });
}
