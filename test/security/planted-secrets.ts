import { recordedNodes } from '../support/fake-flowise/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: nodes as a server sends them
type Any = any;

/** What every planted secret has in it: wherever it is found, something leaked. */
export const PLANTED = /QzS\d{4}eCr/g;

/** Secrets, each another one, each known by its number. */
export class Secrets {
  #count = 0;

  /** Told by the name of its place alone. */
  plain(): string {
    this.#count += 1;
    return `QzS${String(this.#count).padStart(4, '0')}eCr`;
  }

  /** Tells by itself what it is. Put together here, so that no scanner takes this file for a leak. */
  shaped(): string {
    return ['sk', 'proj', `${this.plain()}aB3dE6gH9kLmN2`].join('-');
  }
}

/** The recorded node types in one flow, with a secret in every input that can hold one; and in notes and labels. */
export function flowFullOfSecrets(secrets: Secrets, every = 1): Any {
  const types = recordedNodes().filter((_, at) => at % every === 0);
  const nodes = types.map((node: Any, at) => {
    const id = `${node.name}_${at}`;
    const inputs = (node.inputs ?? []) as Any[];
    return {
      id,
      type: node.category === 'Agent Flows' ? 'agentFlow' : 'customNode',
      position: { x: at * 10, y: 0 },
      data: {
        id,
        name: node.name,
        label: at % 10 === 0 ? `Uses ${secrets.shaped()}` : node.label,
        version: node.version,
        type: node.type,
        category: node.category,
        baseClasses: node.baseClasses,
        inputs: Object.fromEntries(inputs.flatMap((input) => valuesOf(input, secrets))),
        inputParams: inputs.map((input) => ({ ...input, id: `${id}-input-${input.name}-${input.type}` })),
        inputAnchors: [],
        outputAnchors: [],
        outputs: {},
      },
    };
  });
  return {
    nodes: [...nodes, note(secrets)],
    edges: [],
    viewport: { x: 0, y: 0, zoom: 1 },
    description: secrets.shaped(),
  };
}

function note(secrets: Secrets) {
  const text = `The password is ${secrets.plain()}\napi_key: ${secrets.plain()}\n${secrets.shaped()}`;
  return {
    id: 'stickyNote_0',
    type: 'stickyNote',
    position: { x: 0, y: 900 },
    data: { id: 'stickyNote_0', name: 'stickyNote', label: 'Sticky Note', inputs: { note: text }, inputParams: [] },
  };
}

const SECRET_NAMES = /secret$|token$|apikey$|password$/i;

function valuesOf({ name, type }: Any, secrets: Secrets): [string, unknown][] {
  if (type === 'password' || (type === 'string' && SECRET_NAMES.test(name))) return [[name, secrets.plain()]];
  if (/headers$/i.test(name) && type === 'string') {
    return [[name, `Authorization: ${secrets.plain()}\nX-Api-Key: ${secrets.plain()}\nAccept: text/html`]];
  }
  switch (type) {
    case 'json':
      return [[name, JSON.stringify(configOf(secrets))]];
    case 'code':
      return [[name, codeOf(secrets)]];
    case 'array':
    case 'datagrid':
      return [[name, [{ key: 'Authorization', value: `Bearer ${secrets.plain()}` }, configOf(secrets)]]];
    case 'string':
      return [[name, addressOf(secrets)]];
    case 'asyncOptions':
      // An agentflow keeps the settings of the model that was picked beside it.
      return [
        [name, 'chatOpenAI'],
        [`${name}Config`, { ...configOf(secrets), modelName: 'gpt-4o-mini', [name]: 'chatOpenAI' }],
      ];
    default:
      return [[name, '']];
  }
}

function configOf(secrets: Secrets): Record<string, unknown> {
  return {
    openAIApiKey: secrets.plain(),
    headers: { Authorization: `Bearer ${secrets.plain()}`, 'X-Odd-Key': secrets.plain() },
    deep: [{ password: secrets.plain(), text: `use ${secrets.shaped()} here` }],
    env: { SERVICE_TOKEN: secrets.plain() },
    args: ['--api-key', secrets.plain()],
    inner: JSON.stringify({ clientSecret: secrets.plain() }),
  };
}

function codeOf(secrets: Secrets): string {
  return [
    `const apiKey = '${secrets.plain()}';`,
    `const options = { password: "${secrets.plain()}", headers: { 'Authorization': 'Bearer ${secrets.plain()}' } };`,
    `headers.set('X-Api-Key', '${secrets.plain()}');`,
    `await fetch('https://example.test/?access_token=${secrets.plain()}');`,
  ].join('\n');
}

function addressOf(secrets: Secrets): string {
  return `postgres://anna:${secrets.plain()}@db.example/app?api_key=${secrets.plain()} and ${secrets.shaped()}`;
}
