import type { ApiCredential, FlowData, FlowiseClient } from '../flowise/index.ts';
import { badRequest } from '../kernel/errors.ts';
import { ambiguousCredential } from './ambiguous-credential.ts';
import { credentialsIn, withCredentials } from './credential-places.ts';
import { unsound } from './sound.ts';

/** A flow that was fitted to another server, and what there is to tell of it. */
export interface Fitted {
  flow: FlowData;
  notes: string[];
}

/** By the given map, else by type and name, else the only one of the type; where several fit, it asks. */
export async function fitCredentials(
  from: FlowiseClient,
  to: FlowiseClient,
  flow: FlowData,
  given: Record<string, string>,
): Promise<Fitted> {
  const used = credentialsIn(flow);
  if (used.size === 0) return { flow, notes: [] };
  const [here, there] = [await from.listCredentials(), await to.listCredentials()];
  assertUsed(given, used, here);
  const map = new Map<string, ApiCredential>();
  for (const id of used) {
    const source = here.find((credential) => credential.id === id);
    const wanted = chosen(given, id) ?? (source && chosen(given, source.name));
    if (!source && wanted === undefined) continue;
    map.set(id, counterpart(source, there, wanted, to.server, id));
  }
  return {
    flow: withCredentials(flow, (id) => map.get(id)?.id ?? ''),
    notes: [...used].map((id) => credentialNote(id, here, map.get(id))),
  };
}

/** A name that means nothing here is a slip, and would leave something else unmapped. */
function assertUsed(given: Record<string, string>, used: ReadonlySet<string>, here: ApiCredential[]): void {
  const meant = new Set([...used, ...here.filter(({ id }) => used.has(id)).map(({ name }) => name)]);
  const stray = Object.keys(given).filter((name) => !meant.has(name));
  if (stray.length === 0) return;
  throw badRequest(
    stray.map((name) => ({
      code: 'unknown_credential',
      message: `names ${name}, which the chatflow does not use`,
      path: '/credentials',
    })),
    'The promotion',
  );
}

/** Names come from a server: `constructor` is one like any other. */
function chosen(given: Record<string, string>, name: string): string | undefined {
  return Object.hasOwn(given, name) ? given[name] : undefined;
}

function counterpart(
  source: ApiCredential | undefined,
  there: ApiCredential[],
  wanted: string | undefined,
  server: string,
  id: string,
): ApiCredential {
  const ofType = there.filter(({ credentialName }) => source === undefined || credentialName === source.credentialName);
  const fitting =
    wanted === undefined
      ? bestFit(ofType, source)
      : ofType.filter((credential) => credential.id === wanted || credential.name === wanted);
  const [only, ...more] = fitting;
  if (only && more.length === 0) return only;
  const what = source ? `"${source.name}" (${source.credentialName})` : id;
  if (only) {
    const choices = fitting.map(({ id: credential_id, name, credentialName: type }) => ({ credential_id, name, type }));
    throw ambiguousCredential(`${what} on ${server}`, choices, 'Name one with --credentials');
  }
  const issue = {
    code: 'unknown_credential',
    message:
      wanted === undefined
        ? `${server} has no credential for ${what}; create one there, or name another with --credentials`
        : `${server} has no credential named ${wanted} of the type that ${what} needs`,
    path: `/credentials/${id}`,
  };
  throw unsound([issue], 'The promotion was refused');
}

function bestFit(ofType: ApiCredential[], source: ApiCredential | undefined): ApiCredential[] {
  const sameName = ofType.filter(({ name }) => name === source?.name);
  return sameName.length > 0 ? sameName : ofType;
}

function credentialNote(id: string, here: ApiCredential[], target: ApiCredential | undefined): string {
  const source = here.find((credential) => credential.id === id);
  if (!target) return `Credential ${id} no longer exists at the source: the node is left without one.`;
  return `Credential "${source?.name ?? id}" became "${target.name}".`;
}
