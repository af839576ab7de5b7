export const FLOWISE_CLIENT_REQUIREMENTS: Record<string, string> = {};
