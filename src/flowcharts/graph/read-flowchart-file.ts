import type * as z from 'zod';
import type { Issue } from '../../kernel/errors.ts';
import { type MilestoneFields, NEW_MILESTONE, readChange } from '../../milestones/index.ts';
import { issuesOf, jsonPointer } from '../../operations/index.ts';
import type { GraphDraft } from './draft.ts';
import { isObject } from './fields.ts';
import { type FileAttachment, FileRefs, FLOWCHART_FILE_SCHEMA, REF_LISTS } from './flowchart-file.ts';
import { normaliseGraph } from './normalise-graph.ts';
import type { NodeTypes } from './normalise-node.ts';
import { FlowchartSettings } from './wire.ts';

type Json = Record<string, unknown>;

/** A file that can be imported. */
export interface ReadFile {
  settings: FlowchartSettings;
  draft: GraphDraft;
  refs: FileRefs;
  milestones: ReadonlyMap<string, MilestoneFields>;
  /** By the place of the node: what it refers to, and the files it was bound to. */
  bound: readonly { ref: string | null; attachments: readonly FileAttachment[] }[];
}

const KNOWN = ['schema', 'flowchart', 'nodes', 'edges', 'refs'];
const MAX_ATTACHMENTS = 100;
const SHA256 = /^[0-9a-f]{64}$/;

/** Reads a whole file, or tells everything that is wrong with it, each with its place. */
export function readFlowchartFile(raw: Json, types: NodeTypes): { file: ReadFile | null; issues: Issue[] } {
  const issues: Issue[] = [];
  const wrong = (code: string, path: string, message: string) => void issues.push({ code, message, path });
  if (raw.schema !== FLOWCHART_FILE_SCHEMA) wrong('schema_unknown', '/schema', `must be ${FLOWCHART_FILE_SCHEMA}`);
  for (const key of Object.keys(raw)) {
    if (!KNOWN.includes(key)) wrong('unknown_key', jsonPointer([key.slice(0, 100)]), 'is not a known key');
  }
  const settings = parsed(FlowchartSettings, raw.flowchart, '/flowchart', issues);
  const refs = parsed(FileRefs, raw.refs ?? {}, '/refs', issues);
  const milestones = refs ? readMilestones(refs, issues) : new Map();
  const { nodes, bound } = unbind(raw.nodes, refs, issues);
  const graph = normaliseGraph({ nodes, edges: raw.edges }, { types });
  issues.push(...graph.issues);
  const isReadable = issues.length === 0 && settings !== null && refs !== null;
  return { file: isReadable ? { settings, draft: graph.draft, refs, milestones, bound } : null, issues };
}

function parsed<T extends z.ZodType>(schema: T, raw: unknown, at: string, issues: Issue[]): z.output<T> | null {
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  issues.push(...issuesOf(result.error).map((issue) => ({ ...issue, path: `${at}${issue.path}` })));
  return null;
}

function readMilestones(refs: FileRefs, issues: Issue[]): Map<string, MilestoneFields> {
  const found = new Map<string, MilestoneFields>();
  for (const [name, content] of Object.entries(refs.milestones)) {
    const at = jsonPointer(['refs', 'milestones', name]);
    const { change, issues: faults } = readChange(content);
    issues.push(...faults.map((issue) => ({ ...issue, path: `${at}${issue.path}` })));
    if (change.name === undefined) issues.push({ code: 'invalid_type', message: 'is missing', path: `${at}/name` });
    else found.set(name, { ...NEW_MILESTONE, ...change, name: change.name });
  }
  return found;
}

/** Nodes without what only a file says about them; ids of another place mean nothing here. */
function unbind(raw: unknown, refs: FileRefs | null, issues: Issue[]) {
  const bound: { ref: string | null; attachments: FileAttachment[] }[] = [];
  if (!Array.isArray(raw)) return { nodes: raw, bound };
  const nodes = raw.map((item, at) => {
    const place = { ref: null as string | null, attachments: [] as FileAttachment[] };
    bound.push(place);
    if (!isObject(item)) return item;
    const { ref, attachments, ...node } = item;
    for (const key of ['id', 'ref_id', 'attachment_ids']) {
      if (node[key] === undefined) continue;
      issues.push({ code: 'unknown_key', message: 'has no place in a file: use names', path: `/nodes/${at}/${key}` });
    }
    place.ref = readRef(ref, node.node_type, refs, `/nodes/${at}/ref`, issues);
    place.attachments = readAttachments(attachments, `/nodes/${at}/attachments`, issues);
    return node;
  });
  return { nodes, bound };
}

function readRef(ref: unknown, type: unknown, refs: FileRefs | null, path: string, issues: Issue[]): string | null {
  if (ref === undefined || ref === null) return null;
  const list = typeof type === 'string' && Object.hasOwn(REF_LISTS, type) ? REF_LISTS[type] : undefined;
  if (list === undefined) {
    issues.push({ code: 'unexpected_ref', message: 'a node of this type refers to nothing', path });
  } else if (refs && (typeof ref !== 'string' || !Object.hasOwn(refs[list], ref))) {
    issues.push({ code: 'ref_unknown', message: `must be a name in /refs/${list}`, path });
  } else {
    return ref as string;
  }
  return null;
}

function readAttachments(raw: unknown, path: string, issues: Issue[]): FileAttachment[] {
  if (raw === undefined) return [];
  const isFile = (item: unknown): item is FileAttachment =>
    isObject(item) && typeof item.file_name === 'string' && SHA256.test(String(item.sha256));
  if (Array.isArray(raw) && raw.length <= MAX_ATTACHMENTS && raw.every(isFile)) return raw;
  issues.push({ code: 'attachments_invalid', message: 'must be a list of {file_name, sha256}', path });
  return [];
}
