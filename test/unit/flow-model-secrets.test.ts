import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  containsPlaceholder,
  diffFlows,
  diffLines,
  type FlowData,
  hiddenValue,
  hideSecrets,
  renderDiff,
  summariseFlow,
  summaryText,
} from '../../src/flowise/index.ts';
import { hideSecretsInText } from '../../src/kernel/secret-text.ts';
import { recordedNodes } from '../support/fake-flowise/data.ts';
import { anyFlowData, copy, nodeNamed, recordedFlows, smallFlow } from './any-flow-data.ts';

/** Put together here, so that no scanner takes this file for a leak. */
const join = (separator: string, ...parts: string[]) => parts.join(separator);
const letters = (count: number) => 'aB3dE6gH9k'.repeat(Math.ceil(count / 10)).slice(0, count);
const PLAIN = 'hunter2-plain';

/** Secrets that tell by themselves what they are, and the part that must not be seen. */
const SHAPED: Record<string, string> = {
  'a model key': join('-', 'sk', 'proj', letters(40)),
  'a model key with a version': join('-', 'sk', 'ant', 'api03', letters(60)),
  'a tracing key': join('_', 'lsv2', 'pt', letters(40)),
  'a hub token': join('_', 'hf', letters(34)),
  'an index key': join('_', 'pcsk', letters(60)),
  'a search key': join('-', 'tvly', letters(32)),
  'a cloud key': `AIza${letters(35)}`,
  'a code host token': join('_', 'ghp', letters(36)),
  'a chat token': join('-', 'xoxb', '123456789012', letters(24)),
  'a cloud key id': `AKIA${letters(16).toUpperCase()}`,
  'a mail key': join('.', 'SG', letters(22), letters(43)),
  'a web token': join('.', `eyJ${letters(20)}`, `eyJ${letters(40)}`, letters(43)),
  'a bearer token': `Bearer ${letters(24)}`,
  'basic authentication': `Basic ${letters(24)}=`,
  'an address with a password': join('', 'postgres://anna:', letters(12), '@db.example/app'),
  'a private key': join('\n', '-----BEGIN PRIVATE KEY-----', letters(64), letters(64), '-----END PRIVATE KEY-----'),
};
/** A piece from its middle: no mask may leave it. */
const core = (secret: string) => secret.match(/aB3dE6gH9k[\w=]{0,6}|AB3DE6GH9K/)?.[0] ?? secret;

/** Everything that is ever shown of a flow, and of how it came from or became another. */
function everythingTold(flow: FlowData): string {
  const others = [smallFlow(), { nodes: [], edges: [] }, without(flow)];
  const diffs = others.flatMap((other) => [diffFlows(other, flow), diffFlows(flow, other)]);
  const summary = summariseFlow(flow);
  return [
    JSON.stringify(hideSecrets(flow)),
    JSON.stringify(diffs),
    ...diffs.flatMap(diffLines),
    ...diffs.map((diff) => renderDiff(diff, { colour: true })),
    JSON.stringify(summary),
    summaryText(summary, { maxChars: 1_000_000 }),
  ].join('\n');
}

/** The same nodes and edges with every value gone, so that a diff has to tell all of them. */
function without(flow: FlowData): FlowData {
  const bare = copy(flow);
  for (const node of bare.nodes)
    if (node.data.inputs !== null && typeof node.data.inputs === 'object') node.data.inputs = {};
  return bare;
}

describe('[FLR-flow-secrets] a secret typed into a flow', () => {
  const places: [string, (flow: FlowData, secret: string) => unknown][] = [
    ['a value', (flow, secret) => set(flow, { modelName: secret })],
    ['a prompt', (flow, secret) => set(flow, { systemMessage: `You may use ${secret} whenever\nyou like.` })],
    ['code', (flow, secret) => set(flow, { code: `const client = connect(${JSON.stringify(secret)});` })],
    ['JSON text', (flow, secret) => set(flow, { additional: JSON.stringify({ deep: [{ text: secret }] }) })],
    [
      'JSON text in JSON text',
      (flow, secret) => set(flow, { a: JSON.stringify({ b: JSON.stringify({ c: [secret] }) }) }),
    ],
    ['a list', (flow, secret) => set(flow, { messages: [{ role: 'system', content: `<p>${secret}</p>` }] })],
    ['a nested config', (flow, secret) => set(flow, { llmModelConfig: { basepath: secret, more: { x: secret } } })],
    ['a header', (flow, secret) => set(flow, { headers: { 'X-Anything': secret } })],
    [
      'a note',
      (flow, secret) => Object.assign(nodeNamed(flow, 'stickyNote_0').data.inputs, { note: `keep: ${secret}` }),
    ],
    ['a label', (flow, secret) => Object.assign(nodeNamed(flow, 'chatOpenAI_0').data, { label: secret })],
    ['the name of a value', (flow, secret) => set(flow, { [secret]: 'x' })],
    ['an unknown field', (flow, secret) => Object.assign(nodeNamed(flow, 'chatOpenAI_0').data, { odd: { x: secret } })],
    ['an unknown field of the flow', (flow, secret) => Object.assign(flow, { description: secret })],
    ['an id', (flow, secret) => Object.assign(nodeNamed(flow, 'bufferMemory_0'), { id: secret })],
    [
      'an edge',
      (flow, secret) =>
        flow.edges.push({ id: 'e', source: secret, target: 'x', sourceHandle: secret, targetHandle: '' }),
    ],
    [
      'a default',
      (flow, secret) => Object.assign(nodeNamed(flow, 'chatOpenAI_0').data.inputParams?.[0] ?? {}, { default: secret }),
    ],
  ];
  const set = (flow: FlowData, values: Record<string, unknown>) =>
    Object.assign(nodeNamed(flow, 'chatOpenAI_0').data.inputs, values);

  it.each(places)('is not shown from %s', (_, plant) => {
    for (const [kind, secret] of Object.entries(SHAPED)) {
      const flow = smallFlow();
      plant(flow, secret);
      expect(JSON.stringify(flow)).toContain(core(secret));
      expect(everythingTold(flow), kind).not.toContain(core(secret));
    }
  });

  it.each([
    ['a name', { apiKey: PLAIN }],
    ['a name in capitals', { SERVICE_KEY: PLAIN, SLACK_BOT_TOKEN: PLAIN, DB_PASSWORD: PLAIN }],
    ['a nested name', { llmModelConfig: { openAIApiKey: PLAIN, list: [{ clientSecret: PLAIN }] } }],
    ['a name in JSON text', { mcpServerConfig: JSON.stringify({ command: 'npx', env: { API_TOKEN: PLAIN } }) }],
    ['a name in JSON text of several lines', { config: JSON.stringify({ auth: { password: PLAIN } }, null, 4) }],
    ['a name in JSON text that does not parse', { config: `{ 'api-key': '${PLAIN}', }` }],
    ['a name that occurs twice', { config: `{"token":"${PLAIN}","token":""}` }],
    ['an argument of a program', { config: JSON.stringify({ args: ['--api-key', PLAIN, `--token=${PLAIN}`] }) }],
    ['a pair', { queryParams: [{ key: 'api_key', value: PLAIN }], body: [{ name: 'password', value: PLAIN }] }],
    ['the headers of a request', { headers: [{ key: 'Authorization', value: PLAIN }] }],
    ['headers as JSON', { headers: JSON.stringify({ 'X-Funny-Key': PLAIN, Cookie: PLAIN }) }],
    ['headers as lines', { requestsGetHeaders: `Accept: text/html\nX-Session: ${PLAIN}\nAuthorization: ${PLAIN}` }],
    ['an opaque header', { headers: { 'X-Whatever': PLAIN.replace('-', '') + letters(20) } }],
    ['code', { code: `const password = '${PLAIN}';\nconst x = { apiKey: "${PLAIN}", token: \`${PLAIN}\` };` }],
    [
      'a value that code falls back to',
      { code: `const apiKey = process.env.API_KEY || '${PLAIN}';\ntoken := "${PLAIN}"` },
    ],
    [
      'an argument of a call',
      { code: `headers.set('Authorization', '${PLAIN}'); x.append("X-Odd-Token", "${PLAIN}")` },
    ],
    ['code in a template', { code: `fetch(\`https://x.example/?api_key=${PLAIN}&y=1\`)` }],
    ['an environment file', { text: `A=1\nAPI_KEY=${PLAIN}\nexport DB_PASSWORD=${PLAIN}\n` }],
    ['prose', { text: `The password: ${PLAIN}\nThe API key is below. The token is ${PLAIN}.\nAPI key: ${PLAIN}` }],
    ['a name, spaces and an equals sign', { text: `aws_secret_access_key = ${PLAIN}\npassphrase = hunter-two-words` }],
    ['a key of some service', { text: `openai_key=${PLAIN}\nserper_key = ${PLAIN}`, stripe_key: PLAIN }],
    ['a login of a program', { code: `curl -u anna:hunter https://x.example; curl --user "anna:hunter"` }],
    ['a flag in a text', { text: `Run: tool --password ${PLAIN} --verbose` }],
    [
      'a word in prose',
      { text: `secret: hunterhunter\npass: hunterhunter is what you need here\nThe secret: ${PLAIN}.` },
    ],
    ['a connection string', { text: `Server=x;User Id=anna;Password=${PLAIN};AccountKey=${PLAIN}` }],
    ['an address', { url: `https://anna:${PLAIN}@x.example/a`, other: `https://x.example/?a=1&access_token=${PLAIN}` }],
    ['a deep place', { deep: nested(80, { apiKey: PLAIN, text: PLAIN }) }],
    ['a secret object', { credentials: { user: PLAIN, parts: [PLAIN] } }],
  ])('that only its place tells is not shown: %s', (_, values) => {
    const flow = smallFlow();
    set(flow, values);
    expect(JSON.stringify(flow)).toContain('hunter');
    expect(everythingTold(flow)).not.toContain('hunter');
  });

  it('of type password is hidden whatever it is called, and however often the name is used', () => {
    const flow = smallFlow();
    const { data } = nodeNamed(flow, 'chatOpenAI_0');
    data.inputParams?.push({ id: 'i', name: 'phrase', type: 'password' }, { id: 'j', name: 'phrase', type: 'string' });
    for (const value of [PLAIN, [PLAIN], { nested: PLAIN }]) {
      data.inputs.phrase = value;
      expect(everythingTold(flow)).not.toContain('hunter');
    }
    data.inputs.phrase = 12_345_678;
    expect(hideSecrets(flow).nodes[0]?.data.inputs.phrase).toBe('[secret]');
  });

  it('is told to have changed, without either value', () => {
    const [before, after] = [smallFlow(), smallFlow()];
    set(before, { apiKey: 'hunter1' });
    set(after, { apiKey: 'hunter2' });
    const diff = diffFlows(before, after);
    expect(diff.semantic_equal).toBe(false);
    expect(diffLines(diff)).toEqual(['PARAM SET: [chatOpenAI_0] apiKey: a secret in it changed']);
  });

  it('does not survive wherever it is planted in a recorded flow', () => {
    const flows = recordedFlows().filter(({ text }) => text.length < 40_000);
    fc.assert(
      fc.property(
        fc.constantFrom(...flows),
        fc.constantFrom(...Object.values(SHAPED)),
        fc.nat(),
        (recorded, secret, pick) => {
          const flow = JSON.parse(recorded.text) as FlowData;
          plantSomewhere(flow, secret, pick);
          expect(everythingTold(flow)).not.toContain(core(secret));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is hidden once and for all: hiding again changes nothing', () => {
    fc.assert(
      fc.property(anyFlowData, fc.constantFrom(...Object.values(SHAPED)), fc.nat(), (flow, secret, pick) => {
        plantSomewhere(flow, secret, pick);
        const hidden = hideSecrets(flow);
        expect(hideSecrets(hidden)).toEqual(hidden);
      }),
      { numRuns: 200 },
    );
    const words = fc.constantFrom(
      'password',
      'api_key',
      'token',
      ': ',
      '=',
      '"',
      "'",
      '\\',
      '\n',
      'Bearer ',
      ' curl -u ',
      'anna:',
      ' --token ',
      ' = ',
      'opensesame',
      'pass',
      'abc123def',
      '{',
      '}',
      '{{x}}',
      '[secret]',
      '://',
      '@',
      ' ',
      'word',
      letters(30),
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 14 }), (parts) => {
        const once = hideSecretsInText(parts.join(''));
        expect(hideSecretsInText(once)).toBe(once);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is not shown where letters alone are the value, but written as no word is', () => {
    const odd = 'wJalrXUtnFEMIKMDENGbPxRfiCY';
    for (const text of [
      `aws_secret_access_key = ${odd}`,
      `secret: ${odd} and so on`,
      `The passphrase is ${odd}, dear.`,
    ]) {
      expect(hideSecretsInText(text)).not.toContain('XUtn');
    }
    expect(hideSecretsInText('curl -u anna:PW https://x.example')).toBe('curl -u anna:[secret] https://x.example');
    expect(hideSecretsInText('{"cmd":"curl -u \\"anna:PW\\" x"}')).toBe('{"cmd":"curl -u \\"anna:[secret]\\" x"}');
  });

  it('is found in bounded time in texts made to be slow', () => {
    const texts = [
      '://a:'.repeat(50_000),
      'token='.repeat(50_000),
      '-----BEGIN PRIVATE KEY-----'.repeat(5_000),
      `"${'\\'.repeat(100_000)}"`,
      'sk-'.repeat(50_000),
      'Bearer '.repeat(50_000),
      `eyJ${'a.'.repeat(100_000)}`,
      'curl -u '.repeat(50_000),
      ' -u a:b'.repeat(50_000),
      '--token '.repeat(50_000),
      'a'.repeat(1_000_000),
    ];
    const started = performance.now();
    for (const text of texts) hideSecretsInText(text);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

/** Writes into the text (or under a new name) that stands at some place of the flow. */
function plantSomewhere(flow: FlowData, secret: string, pick: number): void {
  const places: (() => void)[] = [() => Object.assign(flow, { planted: secret })];
  const visit = (holder: Record<string, unknown>) => {
    for (const [key, value] of Object.entries(holder)) {
      if (typeof value === 'string') places.push(() => Object.assign(holder, { [key]: `${value} ${secret}` }));
      else if (value !== null && typeof value === 'object') visit(value as Record<string, unknown>);
    }
  };
  visit(flow);
  places[pick % places.length]?.();
}

function nested(depth: number, value: unknown): unknown {
  return depth === 0 ? value : { a: nested(depth - 1, value) };
}

describe('[FLR-flow-secrets-readable] what is no secret stays readable', () => {
  it.each([
    ['maxTokens', 2_000],
    ['maxTokens', '2000'],
    ['maxTokenLimit', '2000'],
    ['budgetTokens', '1024'],
    ['memoryKey', 'chat_history'],
    ['inputKey', 'input'],
    ['sessionId', '4711'],
    ['projectKey', 'ABC'],
    ['textKey', 'text'],
    ['fileKey', 'abcdef'],
    ['partitionKey', 'id'],
    ['clientKeyPath', '/etc/key.pem'],
    ['webhookSignatureHeader', 'x-signature'],
    ['tokenUrl', 'https://x.example/oauth/token'],
    ['credential', '6f1c9a3e-0000-4000-8000-000000000000'],
    ['FLOWISE_CREDENTIAL_ID', '6f1c9a3e-0000-4000-8000-000000000000'],
    ['apiKey', ''],
    ['apiKey', '{{$vars.OPENAI_KEY}}'],
    ['webhookEnableAuth', true],
    ['headers', { Accept: 'application/vnd.github.v3+json', 'Content-Type': 'application/json' }],
    ['headers', '{"Authorization":"Bearer {{$vars.key}}"}'],
    ['headers', 'Accept: */*\nAuthorization: Bearer {{$vars.key}}'],
    ['prompt', 'Answer with one token: yes or no. Never ask for a password.'],
    ['prompt', 'Basic authentication is fine, and a token of appreciation too.'],
    ['code', 'const token = await getToken(); const password = input.password;'],
    ['code', ['const key = $vars.apiKey; headers: { Authorization: `Bearer ', '{token}` }'].join('$')],
    ['code', "map.set('key', 'value'); if (token == 'a1b2c3') {} const maxTokens = 'all'; call('token', x);"],
    ['prompt', 'The secret: be kind. Your password: choose something good. client_secret: provided by the admin here'],
    ['prompt', 'The token is everything you need. Run it with --token to pass one, or docker run -u node:node app.'],
    ['code', 'const apiKey = userKey; token = response.accessToken; api_key = apiKey\nmemory_key = chat_history'],
    ['url', 'http://localhost:3000/a?mail=x@y.example'],
    ['schema', '{"properties":{"token":{"type":"string","description":"which one"}}}'],
    ['json', '{\n   "spacing":   [1,2]\n}'],
  ])('%s = %j', (name, value) => {
    expect(hiddenValue({ name, type: 'string' }, name, value)).toEqual(value);
  });

  it('keeps what is picked from a list', () => {
    expect(hiddenValue({ name: 'authToken', type: 'options' }, 'authToken', 'none')).toBe('none');
    expect(hiddenValue({ name: 'authToken', type: 'string' }, 'authToken', 'none')).toBe('[secret]');
    expect(hiddenValue(undefined, 'authToken', 'none')).toBe('[secret]');
  });

  it('keeps the text around a secret', () => {
    const shown = (name: string, value: unknown) => hiddenValue(undefined, name, value);
    expect(shown('code', `const password = '${PLAIN}'; go();`)).toBe("const password = '[secret]'; go();");
    expect(shown('url', `https://anna:${PLAIN}@x.example/a`)).toBe('https://anna:[secret]@x.example/a');
    expect(shown('url', `https://x.example/?key_id=1&api_key=${PLAIN}&b=2`)).toBe(
      'https://x.example/?key_id=1&api_key=[secret]&b=2',
    );
    expect(shown('headers', { Accept: '*/*', Authorization: PLAIN })).toEqual({
      Accept: '*/*',
      Authorization: '[secret]',
    });
    expect(shown('config', JSON.stringify({ env: { TOKEN: PLAIN, PORT: '1' } }))).toBe(
      '{"env":{"TOKEN":"[secret]","PORT":"1"}}',
    );
  });

  it('knows the inputs of the whole catalogue that hold secrets', () => {
    const secret = new Set<string>();
    const visit = (inputs: unknown): void => {
      for (const input of (inputs ?? []) as Record<string, unknown>[]) {
        const [name, type] = [String(input.name), String(input.type)];
        const param = { name, type };
        if (hiddenValue(param, name, PLAIN) !== PLAIN) secret.add(name);
        if (
          JSON.stringify(hiddenValue(param, name, { Authorization: PLAIN, 'Odd-Key': PLAIN })).includes(PLAIN) === false
        )
          secret.add(name);
        visit(input.array);
        visit(input.tabs);
      }
    };
    for (const node of recordedNodes()) visit(node.inputs);
    expect([...secret].sort()).toEqual([
      'bearerToken',
      'callbackSecret',
      'headers',
      'includeHeaders',
      'requestsDeleteHeaders',
      'requestsGetHeaders',
      'requestsPostHeaders',
      'requestsPutHeaders',
      'splitByHeaders',
      'unstructuredAPIKey',
      'webhookSecret',
    ]);
  });

  it('leaves recorded flows as they are, but for the passwords that stand in them', () => {
    const touched = recordedFlows().filter(({ text }) => JSON.stringify(hideSecrets(JSON.parse(text))) !== text);
    expect(
      touched.map(({ name }) => name).filter((name) => !['SQL Agent', 'OpenAPI YAML Agent'].includes(name)),
    ).toEqual([]);
  });

  it('is a copy: changing it leaves the original alone', () => {
    const flow = smallFlow();
    const hidden = hideSecrets(flow);
    expect(hidden).toEqual(flow);
    Object.assign(nodeNamed(hidden, 'chatOpenAI_0').data.inputs, { temperature: 7 });
    expect(flow).toEqual(smallFlow());
  });
});

describe('[FLR-flow-placeholder] a mask that is about to be written', () => {
  it.each([
    ['[secret]'],
    ['Bearer [secret]'],
    [['a', { b: '[secret]' }]],
    [{ '[secret]': 1 }],
    ['{"apiKey":"[secret]"}'],
  ])('is found in %j', (value) => {
    expect(containsPlaceholder(value)).toBe(true);
  });

  it.each([['secret'], [''], [null], [7], [{ a: ['b'] }], ['[ secret ]']])('is not found in %j', (value) => {
    expect(containsPlaceholder(value)).toBe(false);
  });
});
