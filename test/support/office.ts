import type { FlowBundle } from '../../src/flows/index.ts';
import type { TestStore } from './databases.ts';
import { type Person, personAt } from './person.ts';
import { type Hub, startHub } from './program.ts';

const STAFF = { ann: 'admin', bob: 'admin', eve: 'evaluator', ed: 'editor', vic: 'viewer' } as const;
type Staff = Record<keyof typeof STAFF, Colleague>;

/** Somebody at a terminal who also has a program of their own, for what only prepares a test. */
export interface Colleague extends Person {
  sends<T = Record<string, unknown>>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T>;
}

/** A hub with people of every role at it, and its owner at the machine itself, in processes of their own. */
export interface Office extends Staff {
  store: TestStore;
  hub: Hub;
  owner: Person;
  tokens: Record<keyof typeof STAFF, string>;
  /** The owner with other words in the environment. */
  ownerWith(env: Record<string, string>): Person;
  close(): Promise<void>;
}

export async function openOffice(makeStore: () => Promise<TestStore>, env: Record<string, string>): Promise<Office> {
  const store = await makeStore();
  const here = { home: store.home, databaseUrl: store.databaseUrl, env };
  const owner = personAt(here);
  const { token: own } = await owner.asks<{ token: string }>(['token', 'create', '--user', 'local']);
  const hub = await startHub(here);
  const staff: Record<string, Colleague> = {};
  const tokens: Record<string, string> = {};
  for (const [user, role] of Object.entries(STAFF)) {
    const { token } = await sender(hub, own)<{ token: string }>('POST', '/api/v1/tokens', { user, role });
    const person = personAt({ home: store.home, env: { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: token } });
    tokens[user] = token;
    staff[user] = { ...person, sends: sender(hub, token) };
  }
  return {
    ...(staff as Staff),
    tokens: tokens as Office['tokens'],
    store,
    hub,
    owner,
    ownerWith: (more) => personAt({ ...here, env: { ...env, ...more } }),
    close: async () => {
      await hub.stop();
      await store.remove();
    },
  };
}

function sender(hub: Hub, token: string): Colleague['sends'] {
  return async <T>(method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init = body === undefined ? { headers: { authorization: headers.authorization } } : { headers };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(new URL(path, hub.url), { method, ...init, ...sent });
    if (!response.ok) throw new Error(`${method} ${path} is ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
}

export interface FlowProposalAnswer {
  schema: string;
  proposal_id: string;
  flow_id: string;
  base_version: string | null;
  base_state_id: string | null;
  scope: string;
  auto_approvable: boolean;
  status: string;
  review_queue: string;
}

export interface ProposalAnswer {
  proposal_id: string;
  status: string;
  path: string;
  intent: string;
  evaluation_status: string;
  evaluation_waiver: { by: string; reason: string } | null;
  proposed_by: string;
  decided_by: string | null;
  decision_note: string;
  self_approved: boolean;
  rebase: { current_version: string | null; current_state_id: string; advice: string } | null;
  conflicted?: string[];
}

interface Versions {
  versions: { version: string; state_id: string; proposal_id: string | null }[];
}

/** Everything that a pass has to tick off. */
export const WHOLE_RUBRIC = 'accurate,no_secrets,matches_intent,pii,tone';

export function proposeNew(person: Colleague, bundle: FlowBundle): Promise<FlowProposalAnswer> {
  return person.sends('POST', '/api/v1/flows', { ...bundle, intent: 'A new way' });
}

export async function proposeEdit(
  person: Colleague,
  flowId: string,
  change: (bundle: FlowBundle) => void,
): Promise<FlowProposalAnswer> {
  const path = `/api/v1/flows/${flowId}`;
  const { flow, steps } = await person.sends<FlowBundle>('GET', `${path}/export`);
  const { versions } = await person.sends<Versions>('GET', `${path}/versions`);
  const base = { base_version: versions[0]?.version, base_state_id: versions[0]?.state_id };
  const bundle = { flow, steps };
  change(bundle);
  return person.sends('POST', `${path}/proposals`, { ...bundle, ...base, intent: 'A better way' });
}

export function approve(person: Colleague, proposalId: string): Promise<ProposalAnswer> {
  return person.sends('POST', `/api/v1/proposals/${proposalId}/approve`, {});
}

/** The options that name the latest version as the base of an edit. */
export async function baseOf(person: Person, flowId: string): Promise<string[]> {
  const { versions } = await person.asks<Versions>(['flow', 'versions', flowId]);
  const [latest] = versions;
  if (!latest) throw new Error(`${flowId} has no version`);
  return ['--base-version', latest.version, '--base-state-id', latest.state_id];
}
