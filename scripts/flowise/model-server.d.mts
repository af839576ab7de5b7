export interface ModelServer {
  /** With /v1. */
  url: string;
  requests: { path: string; authorization: string | undefined; body: Record<string, unknown> }[];
  close(): Promise<void>;
}
export function startModelServer(port?: number): Promise<ModelServer>;
