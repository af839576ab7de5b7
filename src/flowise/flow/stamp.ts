/**
 * The stamp of a write: `flowData.flowright.write_id`. Flowise keeps unknown fields of a flow, so after a crash or an
 * answer that never came the stamp tells whether that write arrived.
 */
export function stampFlow(text: string, writeId: string): string {
  const flow = objectOf(text);
  const others = withoutWriteId(flow.flowright);
  // Last, whether it was there before or not, so that stamping twice gives one text.
  delete flow.flowright;
  flow.flowright = { ...others, write_id: writeId };
  return JSON.stringify(flow);
}

/** Without the stamp; of a flow that had none, the same as reading and writing it. */
export function unstampFlow(text: string): string {
  const flow = objectOf(text);
  if (!isRecord(flow.flowright) || !Object.hasOwn(flow.flowright, 'write_id')) return JSON.stringify(flow);
  const others = withoutWriteId(flow.flowright);
  if (Object.keys(others).length > 0) flow.flowright = others;
  else delete flow.flowright;
  return JSON.stringify(flow);
}

/** Which write this text carries; null when none, or when it is no flow at all. */
export function stampOf(text: string): string | null {
  try {
    const { flowright } = objectOf(text);
    const stamp = isRecord(flowright) ? flowright.write_id : undefined;
    return typeof stamp === 'string' ? stamp : null;
  } catch {
    return null;
  }
}

export interface Finals {
  writeId: string;
  /** Ids of the tools that were stored for this write, by tool_ref. */
  toolIds: Readonly<Record<string, string>>;
}

/** How a flow names a tool that has no id yet; the compiler writes it. */
const TOOL_PREFIX = 'flowright:tool:';

/**
 * The one way from the approved text to the text that is sent: every tool that the flow names by a placeholder gets its
 * id, and the write its stamp. Throws for a placeholder without an id: such a flow would fail at run time.
 */
export function finalise(text: string, { writeId, toolIds }: Finals): string {
  const flow = objectOf(text);
  const nodes = Array.isArray(flow.nodes) ? flow.nodes : [];
  for (const node of nodes) {
    const data = isRecord(node) ? node.data : undefined;
    if (isRecord(data) && Object.hasOwn(data, 'inputs')) data.inputs = withToolIds(data.inputs, toolIds);
  }
  return stampFlow(JSON.stringify(flow), writeId);
}

/** Is this what the approved text became? */
export function isFinalOf(sent: string, approved: string, finals: Finals): boolean {
  return finalise(approved, finals) === sent;
}

/** tool_refs that the inputs of a flow still name by placeholders. */
export function toolRefsIn(text: string): string[] {
  const refs = new Set<string>();
  const { nodes } = objectOf(text);
  for (const node of Array.isArray(nodes) ? nodes : []) {
    const data = isRecord(node) ? node.data : undefined;
    if (isRecord(data)) visitTexts(data.inputs, (value) => value.startsWith(TOOL_PREFIX) && refs.add(refOf(value)));
  }
  return [...refs];
}

function withToolIds(value: unknown, toolIds: Finals['toolIds']): unknown {
  if (typeof value === 'string') return value.startsWith(TOOL_PREFIX) ? idOf(refOf(value), toolIds) : value;
  if (Array.isArray(value)) return value.map((item) => withToolIds(item, toolIds));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withToolIds(child, toolIds)]));
}

function idOf(ref: string, toolIds: Finals['toolIds']): string {
  const id = Object.hasOwn(toolIds, ref) ? toolIds[ref] : undefined;
  if (id === undefined) throw new Error(`The tool ${ref} was not stored, so the flow that names it cannot be sent.`);
  return id;
}

function refOf(placeholder: string): string {
  return placeholder.slice(TOOL_PREFIX.length);
}

function visitTexts(value: unknown, visit: (text: string) => void): void {
  if (typeof value === 'string') visit(value);
  else if (value !== null && typeof value === 'object') {
    for (const child of Object.values(value)) visitTexts(child, visit);
  }
}

function withoutWriteId(stamp: unknown): Record<string, unknown> {
  if (!isRecord(stamp)) return {};
  const { write_id: _, ...others } = stamp;
  return others;
}

function objectOf(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw new TypeError('A flow is a JSON object.');
  return value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
