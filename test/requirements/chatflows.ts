export const CHATFLOWS_REQUIREMENTS: Record<string, string> = {};
