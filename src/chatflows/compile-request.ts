import {
  type Chatflow,
  type Compilation,
  compile,
  compileDraft,
  EMPTY_FLOW,
  type FlowiseClient,
  type PatchOp,
} from '../flowise/index.ts';
import { badRequest, type Issue, refusal } from '../kernel/errors.ts';
import { hideSecretsInText } from '../kernel/secret-text.ts';
import type { KnowledgeSession } from '../knowledge/index.ts';
import { chatflowOn } from './chatflow-on.ts';
import type { ChatflowNeeds } from './needs.ts';
import { unsound } from './sound.ts';

/** What somebody wants a chatflow to become. */
export interface ChangeRequest {
  server?: string | undefined;
  /** Left out for a new one. */
  chatflow_id?: string | undefined;
  ops?: readonly PatchOp[] | undefined;
  /** A whole flow instead of operations. */
  flow_data?: string | undefined;
  /** What is merely not filled in yet is told, and no reason to refuse. */
  allow_incomplete?: boolean | undefined;
}

export interface CompiledRequest {
  client: FlowiseClient;
  session: KnowledgeSession;
  /** The chatflow as the server has it; null for a new one. */
  current: Chatflow | null;
  /** What the change is made on. */
  base: string;
  compilation: Compilation;
  /** The same change on another text, with what was looked up before. */
  compileOn(base: string): Compilation;
}

type Needs = Pick<ChatflowNeeds, 'flowise' | 'knowledge'>;

/** Looks up what the change names, then compiles. Writes nothing on the server. */
export async function compileRequest(needs: Needs, vaultId: string, request: ChangeRequest): Promise<CompiledRequest> {
  assertOneForm(request);
  const client = await needs.flowise.client(vaultId, request.server);
  const session = await needs.knowledge.session(vaultId, client.server);
  const current = request.chatflow_id === undefined ? null : await chatflowOn(client, request.chatflow_id);
  const base = current?.flowData ?? EMPTY_FLOW;
  const ops = await resolvedOps(session, request.ops ?? []);
  const options = {
    ...(await storedTools(client, [base, request.flow_data ?? '', JSON.stringify(ops)])),
    incomplete: request.allow_incomplete ? ('warn' as const) : ('refuse' as const),
  };
  const compileOn = (text: string): Compilation =>
    request.flow_data === undefined
      ? compile(text, ops, session.nodes, options)
      : compileDraft(text, request.flow_data, session.nodes, options);
  return { client, session, current, base, compilation: compileOn(base), compileOn };
}

function assertOneForm({ ops, flow_data }: ChangeRequest): void {
  if ((ops === undefined) !== (flow_data === undefined)) return;
  throw badRequest([{ code: 'one_of', message: 'needs either ops or flow_data', path: '/ops' }]);
}

/** Brings the schemas of added nodes home, and turns names and types of credentials into ids. */
async function resolvedOps(session: KnowledgeSession, ops: readonly PatchOp[]): Promise<PatchOp[]> {
  await session.ready();
  const types = new Set(ops.flatMap((op) => (op.op_type === 'add_node' ? [op.node_name] : [])));
  for (const type of types) await session.getNodeSchema(type);
  const resolved: PatchOp[] = [];
  for (const [at, op] of ops.entries()) {
    if (op.op_type !== 'bind_credential') resolved.push(op);
    else resolved.push({ ...op, ...(await credentialOf(session, op.credential_id, at)) });
  }
  return resolved;
}

async function credentialOf(session: KnowledgeSession, name: string, at: number) {
  const answer = await session.resolveCredential(name);
  // Somebody may have taken the key itself for its name.
  const wanted = hideSecretsInText(name);
  if (answer.found === 'one') {
    return { credential_id: answer.credential.credential_id, credential_type: answer.credential.type };
  }
  if (answer.found === 'several') {
    throw refusal('CREDENTIAL_AMBIGUOUS', `Several credentials fit ${wanted}. Name one of them.`, {
      wanted,
      choices: answer.choices.map(({ credential_id, name, type }) => ({ credential_id, name, type })),
    });
  }
  const issue: Issue = {
    code: 'unknown_credential',
    message: `there is no credential ${wanted} on this server; create it in Flowise, then try again`,
    path: `/ops/${at}/credential_id`,
  };
  throw unsound([issue], 'The patch was refused');
}

/** Only a flow with custom tools needs to know which tools are stored. */
async function storedTools(client: FlowiseClient, texts: string[]): Promise<{ tools?: string[] }> {
  if (!texts.some((text) => text.includes('"customTool"'))) return {};
  return { tools: (await client.listTools()).map(({ id }) => id) };
}
