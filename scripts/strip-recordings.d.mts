export const LONGEST_TEXT: number;
export function stripRecordings(folder: string): Map<string, string>;
