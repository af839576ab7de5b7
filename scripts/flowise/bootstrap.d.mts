export const ACCOUNT: { name: string; email: string; password: string };
export function bootstrap(url: string): Promise<string>;
export function createKey(url: string, permissions?: readonly string[]): Promise<string>;
