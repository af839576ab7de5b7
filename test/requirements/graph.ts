export const GRAPH_REQUIREMENTS: Record<string, string> = {};
