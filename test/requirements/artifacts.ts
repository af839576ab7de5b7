export const ARTIFACT_REQUIREMENTS: Record<string, string> = {};
