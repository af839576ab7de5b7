export const ATTACHMENT_REQUIREMENTS: Record<string, string> = {};
