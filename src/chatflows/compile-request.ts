import {
  type Chatflow,
  type Compilation,
  compile,
  compileDraft,
  didYouMean,
  EMPTY_FLOW,
  type FlowiseClient,
  type PatchOp,
} from '../flowise/index.ts';
import { badRequest, type Issue } from '../kernel/errors.ts';
import { hideSecretsInText } from '../kernel/secret-text.ts';
import type { KnowledgeSession } from '../knowledge/index.ts';
import { ambiguousCredential } from './ambiguous-credential.ts';
import { chatflowOn } from './chatflow-on.ts';
import type { ChatflowNeeds } from './needs.ts';

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
  const { ops, issues } = await resolvedOps(session, request.ops ?? []);
  const options = {
    ...(await storedTools(client, [base, request.flow_data ?? '', JSON.stringify(ops)])),
    incomplete: request.allow_incomplete ? ('warn' as const) : ('refuse' as const),
  };
  const compileOn = (text: string): Compilation => {
    const compilation =
      request.flow_data === undefined
        ? compile(text, ops, session.nodes, options)
        : compileDraft(text, request.flow_data, session.nodes, options);
    return issues.length === 0
      ? compilation
      : { ...compilation, ok: false, errors: [...issues, ...compilation.errors] };
  };
  return { client, session, current, base, compilation: compileOn(base), compileOn };
}

function assertOneForm({ ops, flow_data }: ChangeRequest): void {
  if ((ops === undefined) !== (flow_data === undefined)) return;
  throw badRequest([{ code: 'one_of', message: 'needs either ops or flow_data', path: '/ops' }]);
}

/** Brings the schemas of added nodes home, and turns names and types of credentials into ids. */
async function resolvedOps(
  session: KnowledgeSession,
  ops: readonly PatchOp[],
): Promise<{ ops: PatchOp[]; issues: Issue[] }> {
  await session.ready();
  const types = new Set(ops.flatMap((op) => (op.op_type === 'add_node' ? [op.node_name] : [])));
  for (const type of types) await session.getNodeSchema(type);
  const resolved: PatchOp[] = [];
  const issues: Issue[] = [];
  for (const [at, op] of ops.entries()) {
    const found = op.op_type === 'bind_credential' ? await credentialFor(session, op.credential_id) : null;
    if (found !== null && 'problem' in found) {
      issues.push({ code: 'unknown_credential', message: found.problem, path: `/ops/${at}/credential_id` });
    }
    if (found !== null && 'credential_id' in found && op.op_type === 'bind_credential') {
      const { credential_type: said } = op;
      if (said !== undefined && said !== found.credential_type) {
        const message = `the credential ${hideSecretsInText(op.credential_id)} is of the type ${found.credential_type}, not ${hideSecretsInText(said)}`;
        issues.push({ code: 'credential_type', message, path: `/ops/${at}/credential_type` });
      }
    }
    resolved.push(found !== null && 'credential_id' in found ? ({ ...op, ...found } as PatchOp) : op);
  }
  return { ops: resolved, issues };
}

async function credentialFor(session: KnowledgeSession, name: string) {
  const answer = await session.resolveCredential(name);
  if (answer.found === 'one') {
    return { credential_id: answer.credential.credential_id, credential_type: answer.credential.type };
  }
  // Somebody may have taken the key itself for its name.
  const wanted = hideSecretsInText(name);
  if (answer.found === 'several') throw ambiguousCredential(wanted, answer.choices);
  const names = (await session.listCredentials()).map((credential) => credential.name);
  const hint = didYouMean(name, names);
  return {
    problem: `there is no credential ${wanted} on this server${hint || '; create it in Flowise, then try again'}`,
  };
}

/** Only a flow with custom tools needs to know which tools are stored. */
async function storedTools(client: FlowiseClient, texts: string[]): Promise<{ tools?: string[] }> {
  if (!texts.some((text) => text.includes('"customTool"'))) return {};
  return { tools: (await client.listTools()).map(({ id }) => id) };
}
