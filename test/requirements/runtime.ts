export const RUNTIME_REQUIREMENTS: Record<string, string> = {};
