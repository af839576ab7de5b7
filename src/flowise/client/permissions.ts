const BY_ROUTE: Record<string, string> = {
  'GET chatflows': 'chatflows:view',
  'POST chatflows': 'chatflows:create',
  'PUT chatflows': 'chatflows:update',
  'DELETE chatflows': 'chatflows:delete',
  'GET credentials': 'credentials:view',
  'GET marketplaces': 'templates:marketplace',
  'GET tools': 'tools:view',
  'POST tools': 'tools:create',
  'DELETE tools': 'tools:delete',
  'GET variables': 'variables:view',
};

/**
 * The permission that an API key of Flowise 3 needs for a route below /api/v1; null where any valid key will do. Flows
 * of agents are kept as chatflows, but guarded by permissions of their own.
 */
export function permissionFor(method: string, route: string, chatflowType?: string): string | null {
  const [, resource = ''] = /^\/([^/?]+)/.exec(route) ?? [];
  const permission = BY_ROUTE[`${method} ${resource}`] ?? null;
  const isOfAgents = resource === 'chatflows' && (chatflowType === 'AGENTFLOW' || chatflowType === 'MULTIAGENT');
  return permission && isOfAgents ? permission.replace('chatflows:', 'agentflows:') : permission;
}
