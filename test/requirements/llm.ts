export const LLM_REQUIREMENTS: Record<string, string> = {};
