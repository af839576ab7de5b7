import { type FlowrightError, refusal } from '../kernel/errors.ts';
import { hideSecretsInText } from '../kernel/secret-text.ts';

const MOST_NAMED = 5;

/** Several fit; none is picked. The message names them, so that a person need not look at the details. */
export function ambiguousCredential(
  wanted: string,
  choices: readonly { credential_id: string; name: string; type: string }[],
  how = 'Name one of them',
): FlowrightError {
  const named = choices.slice(0, MOST_NAMED).map(({ name }) => `"${hideSecretsInText(name)}"`);
  const more = choices.length > MOST_NAMED ? ` and ${choices.length - MOST_NAMED} more` : '';
  return refusal('CREDENTIAL_AMBIGUOUS', `Several credentials fit ${wanted}: ${named.join(', ')}${more}. ${how}.`, {
    wanted,
    choices: choices.map(({ credential_id, name, type }) => ({ credential_id, name, type })),
  });
}
