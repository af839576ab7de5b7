import type { FlowBundle } from '../../src/flows/index.ts';
import type { TestStore } from './databases.ts';
import { type Person, personAt } from './person.ts';
import { type Hub, startHub } from './program.ts';

const STAFF = { ann: 'admin', bob: 'admin', eve: 'evaluator', ed: 'editor', vic: 'viewer' } as const;
type Staff = Record<keyof typeof STAFF, Person>;

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
  const staff: Record<string, Person> = {};
  const tokens: Record<string, string> = {};
  for (const [user, role] of Object.entries(STAFF)) {
    const token = await newToken(hub, own, { user, role });
    tokens[user] = token;
    staff[user] = personAt({ home: store.home, env: { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: token } });
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

async function newToken(hub: Hub, own: string, body: { user: string; role: string }): Promise<string> {
  const response = await fetch(new URL('/api/v1/tokens', hub.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${own}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`no token for ${body.user}: ${await response.text()}`);
  return ((await response.json()) as { token: string }).token;
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
  latest_version: string;
  versions: { version: string; state_id: string; proposal_id: string | null }[];
}

/** Everything that a pass has to tick off. */
export const WHOLE_RUBRIC = 'accurate,no_secrets,matches_intent,pii,tone';

export function proposeNew(person: Person, bundle: FlowBundle, intent = 'A new way'): Promise<FlowProposalAnswer> {
  return person.asks(['flow', 'propose', '-', '--intent', intent], JSON.stringify(bundle));
}

/** What a person does for an edit: exports the flow, changes the file, looks up the base and proposes. */
export async function proposeEdit(
  person: Person,
  flowId: string,
  change: (bundle: FlowBundle) => void,
): Promise<FlowProposalAnswer> {
  const { flow, steps } = await person.asks<FlowBundle>(['flow', 'export', flowId]);
  const bundle = { flow, steps };
  change(bundle);
  const base = await baseOf(person, flowId);
  return person.asks(['flow', 'propose', '-', '--intent', 'A better way', ...base], JSON.stringify(bundle));
}

/** The options that name the latest version as the base of an edit. */
export async function baseOf(person: Person, flowId: string): Promise<string[]> {
  const { versions } = await person.asks<Versions>(['flow', 'versions', flowId]);
  const [latest] = versions;
  if (!latest) throw new Error(`${flowId} has no version`);
  return ['--base-version', latest.version, '--base-state-id', latest.state_id];
}

export function approve(person: Person, proposalId: string): Promise<ProposalAnswer> {
  return person.asks(['proposal', 'approve', proposalId]);
}
