import { type NodeSchema, similarNames } from '../flowise/index.ts';
import { indexNodes, lookUp } from './node-index.ts';
import { readNodes } from './node-snapshot.ts';
import type { Knowledge, KnowledgeWarning } from './port.ts';
import { folderOf, type RefreshDeps, serverMeant } from './refresh.ts';

export interface KnownNodes {
  /** Null when none is configured: then nobody is asked. */
  server: string | null;
  /** Local, else fetched once and kept. */
  find(nodeType: string): Promise<NodeSchema | null>;
  all(): NodeSchema[];
  suggest(nodeType: string): string[];
  /** Why the server could not be asked. */
  warnings(): readonly KnowledgeWarning[];
}

/** Node types of the server that is meant; without one, those that lie here. */
export async function nodesKnown(
  deps: RefreshDeps & { knowledge: Knowledge },
  vaultId: string,
  named: string | undefined,
): Promise<KnownNodes> {
  const server = await serverMeant(deps.flowise, vaultId, named);
  if (!server) return nodesHere(deps, vaultId);
  const session = await deps.knowledge.session(vaultId, server.name);
  return {
    server: server.name,
    find: (nodeType) => session.getNodeSchema(nodeType),
    all: () => session.nodes.names().flatMap((name) => session.nodes.get(name) ?? []),
    suggest: (nodeType) => session.suggestNodes(nodeType),
    warnings: () => session.warnings,
  };
}

function nodesHere(deps: RefreshDeps, vaultId: string): KnownNodes {
  const { baselineDir } = deps.knowledgeFolders;
  const { nodes } = readNodes({ folder: folderOf(deps, vaultId, null), baselineDir });
  const index = indexNodes(nodes);
  return {
    server: null,
    find: async (nodeType) => lookUp(index, nodeType),
    all: () => [...index.exact.values()],
    suggest: (nodeType) => similarNames(nodeType, index.names),
    warnings: () => [],
  };
}
