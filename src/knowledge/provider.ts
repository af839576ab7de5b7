import { refusal } from '../kernel/errors.ts';
import { anchorsOf, type NodeAnchors } from './anchors.ts';
import { CredentialStore } from './credential-store.ts';
import { NodeSchemaStore } from './node-schema-store.ts';
import type { KnowledgeSession, KnowledgeState } from './port.ts';
import { newMemory, type SessionMemory } from './session-memory.ts';
import type { StoreContext } from './store-context.ts';
import { TemplateStore } from './template-store.ts';

/**
 * What is known of one Flowise server: three stores that read through. Making one touches nothing; it runs nothing in
 * the background, and asks only through the client that it was given.
 */
export class FlowiseKnowledgeProvider {
  readonly nodeSchemas: NodeSchemaStore;
  readonly templates: TemplateStore;
  readonly credentials: CredentialStore;

  constructor(context: StoreContext) {
    this.nodeSchemas = new NodeSchemaStore(context);
    this.templates = new TemplateStore(context);
    this.credentials = new CredentialStore(context);
  }

  openSession(): KnowledgeSession {
    return openSession(this);
  }

  /** How a known node can be connected; null for one that is not known here. */
  anchors(nodeType: string): NodeAnchors | null {
    const node = this.nodeSchemas.get(nodeType);
    return node && anchorsOf(node);
  }
}

function openSession({ nodeSchemas, templates, credentials }: FlowiseKnowledgeProvider): KnowledgeSession {
  const memory = newMemory();
  const resolved = new Map<string, string>();
  let templateUsed: string | null = null;
  const nodes = () => checkedNodes(nodeSchemas, memory);
  return {
    getNodeSchema: async (nodeType) => nodes().getOrRepair(nodeType, memory),
    nodes: {
      get: (nodeType) => nodes().get(nodeType),
      names: () => nodes().names(),
    },
    suggestNodes: (nodeType) => nodes().suggest(nodeType),
    ready: async () => nodes().ready(memory),
    findTemplates: async (tags, limit, type) => {
      await templates.ready(memory);
      return templates.find(tags, limit, type);
    },
    useTemplate: async (templateId) => {
      await templates.ready(memory);
      const template = templates.get(templateId);
      if (!template) throw refusal('NOT_FOUND', 'There is no such template. Find one by its tags first.');
      const flow = await templates.flowOf(template);
      if (flow !== null) templateUsed = templateId;
      return flow;
    },
    resolveCredential: async (nameOrType) => {
      const answer = await credentials.resolveOrRepair(nameOrType, memory);
      if (answer.found === 'one') resolved.set(answer.credential.name, answer.credential.credential_id);
      return answer;
    },
    listCredentials: () => credentials.list(memory),
    state: (): KnowledgeState => ({
      facts: {
        flowise: { available_node_types: [...nodes().names()], resolved_credentials: Object.fromEntries(resolved) },
      },
      artifacts: { flowise: { template_used: templateUsed } },
      debug: { flowise: { knowledge_repair_events: memory.events.map((event) => ({ ...event })) } },
    }),
    get repairEvents() {
      return memory.events.map((event) => ({ ...event }));
    },
    get warnings() {
      return memory.warnings.map((warning) => ({ ...warning }));
    },
  };
}

function checkedNodes(store: NodeSchemaStore, memory: SessionMemory): NodeSchemaStore {
  if (!memory.begun.has('flowise_nodes')) {
    memory.begun.add('flowise_nodes');
    store.recheck();
  }
  return store;
}
