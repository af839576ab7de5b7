export const PLAN_REQUIREMENTS: Record<string, string> = {};
