import { type ApiNode, type NodeSchema, type NodeSchemas, similarNames } from '../flowise/index.ts';
import { isoNow } from '../kernel/clock.ts';
import { refusal } from '../kernel/errors.ts';
import { deepFreeze } from './deep-freeze.ts';
import { indexNodes, lookUp, type NodeIndex } from './node-index.ts';
import { keepNode, keepNodes } from './node-repair.ts';
import { type NodeSnapshot, readNodes } from './node-snapshot.ts';
import { normaliseNode } from './normalise-node.ts';
import type { RepairEvent } from './port.ts';
import { codeOf, once, type SessionMemory, shownQuery, warn } from './session-memory.ts';
import { snapshotPaths, snapshotStamp } from './snapshot-file.ts';
import type { StoreContext } from './store-context.ts';

/** What a server could be asked for by name; anything else is no node type. */
const NODE_TYPE = /^[\w.@ -]{1,128}$/;

type Repair = { schema: NodeSchema; kept: boolean } | { schema: null; error?: unknown };

/**
 * Node types of one server. States: unread, until the first question; sound; in doubt, when its own snapshot is broken
 * and was not refreshed yet (what came with the program stands in). A new session looks whether the file changed.
 */
export class NodeSchemaStore implements NodeSchemas {
  readonly #context: StoreContext;
  #snapshot: NodeSnapshot | null = null;
  #index: NodeIndex | null = null;
  /** Frozen, by the name that was asked for: a later question is one look into this map. */
  #answers = new Map<string, NodeSchema>();
  readonly #repairs = new Map<string, Promise<Repair>>();
  #refreshing: Promise<void> | null = null;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Local only. */
  get(nodeType: string): NodeSchema | null {
    return this.#answers.get(nodeType) ?? this.#find(nodeType);
  }

  names(): readonly string[] {
    return this.#loaded().names;
  }

  suggest(nodeType: string): string[] {
    return similarNames(nodeType, this.names());
  }

  /** A session's first use: another process may have written since. */
  recheck(): void {
    const { folder } = this.#context;
    const stamp = this.#snapshot?.stamp;
    if (stamp === undefined || stamp === snapshotStamp(snapshotPaths(folder, 'flowise_nodes'))) return;
    this.#forget();
  }

  /** Reads, and refreshes a broken snapshot before anything is answered from it; once a session, and shared. */
  async ready(memory: SessionMemory): Promise<void> {
    this.#loaded();
    const doubt = this.#snapshot?.doubt;
    if (!doubt || memory.failed.has('flowise_nodes')) return;
    warn(this.#context, memory, { code: 'SNAPSHOT_INVALID', message: `${doubt}; all nodes are fetched again` });
    try {
      this.#refreshing ??= this.#refresh().finally(() => {
        this.#refreshing = null;
      });
      await this.#refreshing;
    } catch (error) {
      memory.failed.add('flowise_nodes');
      const message = 'nodes could not be fetched; those that came with the program are used';
      warn(this.#context, memory, { code: codeOf(error), message });
    }
  }

  /** Local, else exactly one request for exactly that node, whose answer is kept. */
  async getOrRepair(nodeType: string, memory: SessionMemory): Promise<NodeSchema | null> {
    if (this.#snapshot?.doubt !== null) await this.ready(memory);
    const known = this.get(nodeType);
    if (known || !NODE_TYPE.test(nodeType)) return known;
    return once(memory.nodeRepairs, nodeType, () => this.#repairFor(nodeType, memory));
  }

  async #repairFor(nodeType: string, memory: SessionMemory): Promise<NodeSchema | null> {
    const outcome = await once(this.#repairs, nodeType, () =>
      this.#repair(nodeType).finally(() => this.#repairs.delete(nodeType)),
    );
    memory.events.push(repairEvent(nodeType, isoNow(this.#context.clock), outcome));
    if (outcome.schema) return this.get(nodeType) ?? deepFreeze(outcome.schema);
    if (outcome.error !== undefined) {
      const message = `node ${shownQuery(nodeType)} is not known here and the server could not be asked for it`;
      warn(this.#context, memory, { code: codeOf(outcome.error), message });
    }
    return null;
  }

  #find(nodeType: string): NodeSchema | null {
    const found = lookUp(this.#loaded(), nodeType);
    if (found) this.#answers.set(nodeType, deepFreeze(found));
    return found;
  }

  #loaded(): NodeIndex {
    this.#snapshot ??= readNodes(this.#context);
    this.#index ??= indexNodes(this.#snapshot.nodes);
    return this.#index;
  }

  #take(snapshot: NodeSnapshot): void {
    this.#forget();
    this.#snapshot = snapshot;
  }

  #forget(): void {
    this.#snapshot = null;
    this.#index = null;
    this.#answers = new Map();
  }

  async #refresh(): Promise<void> {
    const { client } = this.#context;
    const named = (await client.listNodes()).filter(hasName).map((api) => [api.name, normaliseNode(api)] as const);
    const listed = [...new Map(named).values()];
    if (listed.length === 0) throw refusal('FLOWISE_BAD_ANSWER', `Flowise server ${client.server} lists no nodes.`);
    const version = await client.version().catch(() => null);
    try {
      this.#take(await keepNodes(this.#context, listed, version));
    } catch (error) {
      warn(this.#context, null, { code: codeOf(error), message: 'nodes were fetched but could not be kept on disk' });
      this.#take({ ...(this.#snapshot ?? readNodes(this.#context)), nodes: listed, doubt: null });
    }
  }

  /** Never throws. Sessions that wait for the same node share it. */
  async #repair(nodeType: string): Promise<Repair> {
    try {
      const api = await this.#context.client.getNode(nodeType);
      if (api === null || api.name !== nodeType) return { schema: null };
      const schema = normaliseNode(api);
      return { schema, kept: await this.#keep(schema) };
    } catch (error) {
      return { schema: null, error };
    }
  }

  /** On disk if that is possible; for this process in any case. */
  async #keep(schema: NodeSchema): Promise<boolean> {
    const { repairLog, log, client } = this.#context;
    const before = this.#snapshot ?? readNodes(this.#context);
    try {
      const kept = await keepNode(this.#context, schema, before);
      if (kept) {
        this.#take(kept);
        if (repairLog) {
          const line = `[knowledge] repaired snapshot: added ${schema.node_type} from API`;
          log.warn({ server: client.server, node_type: schema.node_type }, line);
        }
        return true;
      }
    } catch (error) {
      const message = `node ${shownQuery(schema.node_type)} was fetched but could not be kept on disk`;
      warn(this.#context, null, { code: codeOf(error), message });
    }
    const current = this.#snapshot ?? before;
    this.#take({ ...current, nodes: [...current.nodes, schema] });
    return false;
  }
}

function hasName(api: ApiNode): boolean {
  return typeof api?.name === 'string' && api.name !== '';
}

function repairEvent(nodeType: string, timestamp: string, outcome: Repair): RepairEvent {
  const event = { kind: 'node', node_type: shownQuery(nodeType), timestamp } as const;
  if (outcome.schema) return { ...event, action: 'repaired', ...(outcome.kept ? {} : { detail: 'not kept on disk' }) };
  if (outcome.error === undefined) return { ...event, action: 'not_found' };
  return { ...event, action: 'fetch_error', detail: codeOf(outcome.error) };
}
