import { type Chatflow, hideSecrets } from '../flowise/index.ts';
import { hideSecretsIn } from '../kernel/hide-secrets.ts';
import { hideSecretsInText } from '../kernel/secret-text.ts';
import { carriedFields, typeOf } from './carried-fields.ts';
import { stateOf } from './states.ts';

const MAX_NAME = 60;

/** One chatflow as a file: the same chatflow is the same text, whatever order Flowise keeps its keys in. */
export function exportedFlow(chatflow: Chatflow): { file_name: string; chatflow_id: string; content: string } {
  const { flow, semantic_hash } = stateOf(chatflow.flowData);
  const { flowright: _, ...masked } = hideSecrets(flow);
  const document = {
    chatflow_id: chatflow.id,
    name: hideSecretsInText(chatflow.name),
    type: typeOf(chatflow),
    ...(hideSecretsIn(carriedFields(chatflow)) as object),
    // Tells that a hidden secret changed; the hash of the text would change with every write.
    semantic_hash,
    flow: masked,
  };
  return {
    file_name: `${slug(hideSecretsInText(chatflow.name))}.${slug(chatflow.id)}.json`,
    chatflow_id: chatflow.id,
    content: `${JSON.stringify(ordered(document), null, 2)}\n`,
  };
}

/** Letters, digits and dashes: safe on every file system. */
function slug(name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return words.slice(0, MAX_NAME) || 'chatflow';
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (value === null || typeof value !== 'object') return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, ordered((value as Record<string, unknown>)[name])]));
}
