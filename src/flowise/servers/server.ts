import type { Trx } from '../../database/index.ts';
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

/** A server as somebody adds it. */
export interface NewServer {
  name: string;
  /** As typed; a name and password in it count when nothing else is given. */
  url: string;
  api_key?: string | undefined;
  username?: string | undefined;
  password?: string | undefined;
  /** Drops a stored key; without it, and without another, a stored one of the same address stays. */
  auth?: 'none' | undefined;
  is_default: boolean;
}

export interface AddedServer {
  server: ServerRecord;
  /** There was one of that name. */
  replaced: boolean;
  /** Its stored key or password is still in use. */
  secret_kept: boolean;
}

/** What the operations of this room also need: the servers that people add and remove themselves. */
export interface ServerBook extends FlowiseServers {
  /** Puts it in place of an added one of that name. */
  add(trx: Trx, vaultId: string, server: NewServer): Promise<AddedServer>;
  /** Makes an added one the one that is meant when none is named. */
  setDefault(trx: Trx, vaultId: string, name: string): Promise<ServerRecord>;
  remove(trx: Trx, vaultId: string, name: string): Promise<void>;
}
