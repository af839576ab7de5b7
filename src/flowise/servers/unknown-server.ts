import { ERRORS, type FlowrightError, refusal } from '../../kernel/errors.ts';

/** There is no such server, or nothing says which is meant; either way the answer lists those that there are. */
export function unknownServer(
  servers: readonly { name: string }[],
  name: string | undefined,
  setting: string | null = null,
): FlowrightError {
  const names = servers.map((server) => server.name);
  const choice = names.length === 0 ? '' : ` (there are ${names.join(', ')})`;
  const isUnsaid = name === undefined && setting === null && names.length > 0;
  const next = isUnsaid
    ? 'Name one with --server, or make one the usual one with `flowright server default NAME`.'
    : ERRORS.FLOWISE_SERVER_UNKNOWN.next;
  const sentence = `${problem(names, name, setting)}${choice}. ${next}`;
  return refusal('FLOWISE_SERVER_UNKNOWN', sentence, { servers: names });
}

function problem(names: readonly string[], name: string | undefined, setting: string | null): string {
  if (name !== undefined) return `There is no Flowise server ${name} in this vault`;
  if (setting !== null) return `flowise_server names ${setting}, and this vault has no such Flowise server`;
  return names.length === 0 ? 'There is no Flowise server in this vault' : 'Nothing says which Flowise server is meant';
}
