import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeFlowise } from '../support/fake-flowise/index.ts';
import { type FlowchartScene, makeFlowchartScene } from '../support/flowchart-scene.ts';
import { type FlowiseScene, makeFlowiseScene, sceneServers } from '../support/flowise-scene.ts';
import { sampleFlow } from '../support/flows.ts';
import { approve, baseOf, type Inside, type Payload, propose } from './inside.ts';

const RUBRIC = ['accurate', 'no_secrets', 'matches_intent', 'pii', 'tone'];
const OWNER = 'local';
const KNOWN = 'flow_known';

/** Inputs that an operation would accept from somebody who may use it. What they name is made on the way. */
export interface Plausible {
  /** A flow that came through an approved proposal and has a mirror. */
  flowId: string;
  /** A flowchart with everything that belongs to one. */
  scene: FlowchartScene;
  /** Chatflows on Flowise servers. */
  flowise: FlowiseScene;
  names: string[];
  inputsFor(operation: string, user: string | null): Promise<Payload[]>;
  /** An open proposal of a new personal flow, by the owner. */
  openProposal(user?: string | null): Promise<string>;
  /** Ends the Flowise servers. */
  close(): Promise<void>;
}

export async function makePlausible(inside: Inside, home: string): Promise<Plausible> {
  const { proposal_id } = await propose(inside, OWNER, sampleFlow(KNOWN));
  const { mirror_path } = await approve(inside, OWNER, proposal_id);
  await inside.as(OWNER, 'note.put', { path: 'notes/kept.md', body: 'Kept' });
  const scene = await makeFlowchartScene((name, input) => inside.as(OWNER, name, input));
  const servers = await sceneServers(startFakeFlowise);
  const flowise = await makeFlowiseScene((name, input) => inside.as(OWNER, name, input), servers);
  let made = 0;
  const fresh = (word: string): string => {
    made += 1;
    return `${word}${made}`;
  };
  const openProposal = async (user: string | null = OWNER) =>
    (await propose(inside, user, sampleFlow(fresh('flow_wish_')))).proposal_id;
  const aUser = async () => {
    const user = fresh('somebody-');
    await inside.member(user, 'viewer');
    return user;
  };
  const edit = async () => ({
    ...sampleFlow(KNOWN, { version: '2.0.0', steps: 3 }),
    ...(await baseOf(inside, OWNER, KNOWN)),
    flow_id: KNOWN,
    intent: 'An edit',
  });
  const editMirror = () => {
    const bundle = sampleFlow(KNOWN, { title: fresh('Edited by hand ') });
    const text = `---\ntype: flow\n---\nBy hand.\n\n\`\`\`json\n${JSON.stringify(bundle)}\n\`\`\`\n`;
    writeFileSync(join(home, 'vaults', 'default', mirror_path), text);
  };

  const inputs: Record<string, (user: string | null) => Promise<Payload> | Payload> = {
    'whoami.show': () => ({}),
    'health.show': () => ({}),
    'vault.list': () => ({}),
    'vault.create': () => ({ vault_id: fresh('vault-') }),
    'user.list': () => ({}),
    'user.create': () => ({ user: fresh('new-') }),
    'user.disable': async () => ({ user: await aUser() }),
    'user.enable': async () => ({ user: await aUser() }),
    'member.list': () => ({}),
    'member.set': () => ({ user: fresh('member-'), role: 'viewer' }),
    'member.remove': async () => ({ user: await aUser() }),
    'token.create': () => ({ user: fresh('token-'), role: 'viewer' }),
    'token.list': () => ({}),
    'token.revoke': async () => {
      const { token_id } = await inside.as(OWNER, 'token.create', { user: await aUser() });
      return { token_id };
    },
    'audit.list': () => ({}),
    'audit.verify': () => ({}),
    'policy.show': () => ({}),
    'policy.set': () => ({ key: 'flow_import_allowed_tools', value: 'a-tool' }),
    'note.list': () => ({ prefix: 'meta/flows' }),
    'note.get': () => ({ path: 'notes/kept.md' }),
    'note.put': () => ({ path: fresh('notes/n-').concat('.md'), body: 'Text' }),
    'flow.list': () => ({}),
    'flow.get': () => ({ flow_id: KNOWN }),
    'flow.search': () => ({ query: 'part' }),
    'flow.versions': () => ({ flow_id: KNOWN }),
    'flow.diff': () => ({ flow_id: KNOWN }),
    'flow.project': () => ({ flow_id: KNOWN, harness: 'cli_runbook' }),
    'flow.export': () => ({ flow_id: KNOWN }),
    'flow.mirrors': () => ({}),
    'flow.mirror_propose': () => {
      editMirror();
      return { flow_id: KNOWN };
    },
    'flow.mirror_restore': () => {
      editMirror();
      return { flow_id: KNOWN };
    },
    'flow.propose': () => ({ ...sampleFlow(fresh('flow_new_')), intent: 'A new way' }),
    'flow.import': () => ({ bundle: sampleFlow(fresh('flow_import_')), intent: 'From elsewhere' }),
    'flow.retire': () => ({ flow_id: KNOWN, intent: 'No longer used' }),
    'proposal.create': () => ({ path: fresh('notes/w-').concat('.md'), body: 'Text', intent: 'Why' }),
    'proposal.list': () => ({}),
    'proposal.get': async () => ({ proposal_id: await openProposal() }),
    'proposal.diff': async () => ({ proposal_id: await openProposal() }),
    'proposal.comment': async () => ({ proposal_id: await openProposal(), body: 'Looks good' }),
    'proposal.evaluate': async () => ({ proposal_id: await openProposal(), outcome: 'pass', checklist: RUBRIC }),
    'proposal.discard': async () => ({ proposal_id: await openProposal(), reason: 'No' }),
    'proposal.withdraw': async (user) => ({ proposal_id: await openProposal(user) }),
    'proposal.approve': async () => ({ proposal_id: await openProposal() }),
  };
  for (const name of scene.names) inputs[name] = () => scene.inputFor(name);
  for (const name of flowise.names) inputs[name] = () => flowise.inputFor(name);
  return {
    flowId: KNOWN,
    scene,
    flowise,
    names: Object.keys(inputs),
    openProposal,
    inputsFor: async (name, user) => {
      const input = inputs[name];
      if (!input) throw new Error(`no plausible input is known for ${name}: add one`);
      const usual = await input(user);
      return name === 'flow.propose' ? [usual, await edit()] : [usual];
    },
    close: async () => void (await Promise.all(servers.map((server) => server.close()))),
  };
}
