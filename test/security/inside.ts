import type { App } from '../../src/app.ts';
import type { FlowBundle } from '../../src/flows/index.ts';
import type { AnyOperation } from '../../src/operations/index.ts';
import { openTestApp } from '../support/app.ts';
import type { TestStore } from '../support/databases.ts';
import type { Grant } from './people.ts';

export const AUTHORING_ON = { FLOW_AUTHORING_WRITES: '1' };

export type Payload = Record<string, unknown>;

export interface How {
  vault?: string;
  agent?: boolean;
  /** Scopes that this machine's settings narrow to. */
  narrowTo?: string[];
}

/** The program without its doors: what a test only needs to be there is made here, as the members who make it. */
export interface Inside {
  app: App;
  operation(name: string): Promise<AnyOperation>;
  /** Calls an operation as a member; null is a machine without an identity. */
  as<T = Payload>(user: string | null, name: string, input?: unknown, how?: How): Promise<T>;
  /** The code it is refused with, or `done`. */
  codeOf(user: string | null, name: string, input?: unknown, how?: How): Promise<string>;
  /** Makes the user a member where new and returns the secret of a token. */
  token(user: string, grant?: Grant): Promise<string>;
  member(user: string, role: string, more?: { scopes?: string[]; ambiguous?: boolean; vault?: string }): Promise<void>;
  close(): Promise<void>;
}

export async function openInside(
  store: Pick<TestStore, 'home' | 'databaseUrl'>,
  env: Record<string, string> = AUTHORING_ON,
): Promise<Inside> {
  const app = await openTestApp(store, { env });
  const operations = new Map((await app.catalogue.all()).map((operation) => [operation.name, operation]));
  const operation = async (name: string) => {
    const found = operations.get(name);
    if (!found) throw new Error(`there is no operation ${name}`);
    return found;
  };
  const as = async <T>(user: string | null, name: string, input: unknown = {}, how: How = {}) => {
    const principal = await app.principals.local({
      identity: user,
      vaultId: how.vault ?? 'default',
      narrowTo: how.narrowTo ?? null,
      agent: how.agent ?? false,
    });
    const call = { principal, door: 'cli', request_id: 'inside', correlation_id: undefined } as const;
    return (await app.invoke(await operation(name), call, input)) as T;
  };
  return {
    app,
    operation,
    as,
    codeOf: async (...call) => {
      try {
        await as(...call);
        return 'done';
      } catch (error) {
        return (error as { code?: string }).code ?? String(error);
      }
    },
    token: async (user, { role, vault, agent } = {}) => {
      const how = vault ? { vault } : {};
      const given = { user, ...(role ? { role } : {}), ...(agent ? { agent } : {}) };
      return (await as<{ token: string }>('local', 'token.create', given, how)).token;
    },
    member: async (user, role, { vault, ...more } = {}) => {
      await as('local', 'member.set', { user, role, ...more }, vault ? { vault } : {});
    },
    close: () => app.close(),
  };
}

export interface Proposed {
  proposal_id: string;
  flow_id: string;
  base_version: string | null;
  base_state_id: string | null;
  scope: string;
  status: string;
}

export interface Approved {
  proposal_id: string;
  status: string;
  self_approved: boolean;
  mirror_path: string;
  approval_log_path: string;
  conflicted: string[];
}

/** What an edit of the flow as it is now has to name. */
export async function baseOf(inside: Inside, user: string, flowId: string, how: How = {}) {
  const { versions } = await inside.as<{ versions: { version: string; state_id: string }[] }>(
    user,
    'flow.versions',
    { flow_id: flowId },
    how,
  );
  return { base_version: versions[0]?.version, base_state_id: versions[0]?.state_id };
}

export function propose(inside: Inside, user: string | null, bundle: FlowBundle, more: Payload = {}, how: How = {}) {
  return inside.as<Proposed>(user, 'flow.propose', { ...bundle, intent: 'A new way', ...more }, how);
}

/** An edit of the flow as it is now. */
export async function proposeEdit(
  inside: Inside,
  user: string,
  bundle: FlowBundle,
  more: Payload = {},
  how: How = {},
): Promise<Proposed> {
  return propose(inside, user, bundle, { ...(await baseOf(inside, user, bundle.flow.flow_id, how)), ...more }, how);
}

export function approve(inside: Inside, user: string, proposalId: string, more: Payload = {}, how: How = {}) {
  return inside.as<Approved>(user, 'proposal.approve', { proposal_id: proposalId, ...more }, how);
}
