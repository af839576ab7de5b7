export const KNOWLEDGE_REQUIREMENTS: Record<string, string> = {};
