import type { FlowiseClient } from '../client/client.ts';

/** A Flowise server as every door tells of it. */
export interface ServerRecord {
  name: string;
  /** Without anything secret. */
  url: string;
  auth: 'none' | 'key' | 'basic';
  /** Where it comes from; what config.yaml or the environment names cannot be changed by an operation. */
  origin: 'added' | 'config' | 'environment';
  /** Meant when none is named. */
  is_default: boolean;
}

/** The servers of each vault. One client, so one pool of connections, a server for the life of the process. */
export interface FlowiseServers {
  list(vaultId: string): Promise<ServerRecord[]>;
  /** The named one, else the one that is meant; FLOWISE_SERVER_UNKNOWN says which there are. */
  client(vaultId: string, name?: string): Promise<FlowiseClient>;
  close(): Promise<void>;
}
