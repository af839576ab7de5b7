export const REFRESH_REQUIREMENTS: Record<string, string> = {};
