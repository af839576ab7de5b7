export const COMPILER_REQUIREMENTS: Record<string, string> = {};
