export const FLOW_MODEL_REQUIREMENTS: Record<string, string> = {};
