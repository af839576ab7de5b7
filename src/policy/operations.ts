import * as z from 'zod';
import { type Database, takeTurns } from '../database/index.ts';
import { refusal } from '../kernel/errors.ts';
import { inertLine } from '../kernel/terminal.ts';
import { type Context, defineOperation } from '../operations/index.ts';
import type { Files } from '../vault/index.ts';
import type { Policy } from './policy.ts';
import { POLICY_KEY_NAMES, POLICY_KEYS, parsePolicyText } from './policy-keys.ts';
import { withPolicyKey } from './resolve.ts';

interface Needs {
  database: Database;
  policy: Policy;
  files: Files;
}

const PolicyEntry = z.strictObject({
  key: z.string(),
  value: z.union([z.boolean(), z.array(z.string())]),
  origin: z
    .enum(['environment', 'file', 'default', 'closed'])
    .describe('closed: its file cannot be read, so nothing is allowed'),
  env: z.string().nullable().describe('Environment variable that decides first'),
  file: z.string(),
  summary: z.string(),
});

const PolicyResponse = z
  .strictObject({
    schema: z.literal('flowright.policy/v1'),
    policies: z.array(PolicyEntry),
    rubric: z
      .array(z.strictObject({ id: z.string(), label: z.string() }))
      .nullable()
      .describe('What an evaluation checks; null when its file is damaged'),
    damaged: z.array(z.strictObject({ file: z.string(), reason: z.string() })),
  })
  .meta({ id: 'PolicyResponse' });

type PolicyPayload = z.output<typeof PolicyResponse>;

function shown(policy: Policy): PolicyPayload {
  const { values, origins } = policy.state();
  return {
    schema: 'flowright.policy/v1',
    policies: POLICY_KEY_NAMES.map((key) => {
      const { file, summary, ...rest } = POLICY_KEYS[key];
      const env = 'env' in rest && rest.env ? rest.env : null;
      return { key, value: values[key], origin: origins[key], env, file, summary };
    }),
    rubric: rubricOf(policy),
    damaged: policy.damaged(),
  };
}

function rubricOf(policy: Policy): PolicyPayload['rubric'] {
  try {
    return policy.rubric();
  } catch {
    return null;
  }
}

function policyLines({ policies, rubric, damaged }: PolicyPayload): string {
  return [
    ...policies.flatMap(({ key, value, origin, summary }) => [
      `${key} = ${String(value) || '(none)'} (${origin})`,
      `    ${summary}`,
    ]),
    ...(rubric
      ? ['', 'An evaluation checks:', ...rubric.map(({ id, label }) => inertLine(`    ${id}: ${label}`))]
      : []),
    ...damaged.map(({ file, reason }) => inertLine(`DAMAGED ${file}: ${reason}. What it governs is closed.`)),
  ].join('\n');
}

const showPolicy = defineOperation({
  name: 'policy.show',
  summary: 'Show what this hub allows, and what decides it',
  input: z.strictObject({}),
  output: PolicyResponse,
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/policy', tag: 'Policy' },
  cli: { command: 'policy show', render: policyLines, isBadNews: ({ damaged }) => damaged.length > 0 },
  handle: ({ policy }: Context<Needs>) => shown(policy),
});

const setPolicy = defineOperation({
  name: 'policy.set',
  summary: 'Change what this hub allows',
  description:
    'Sets one policy in its file. Words with commas between for a list; `default` takes the key out of the file.',
  input: z.strictObject({
    key: z.enum(POLICY_KEY_NAMES).describe('Policy to set; `policy show` lists them'),
    value: z.string().max(10_000).describe('true, false, words with commas between, or default'),
  }),
  output: PolicyResponse,
  access: { can: 'administer', hub: true },
  effect: 'write',
  http: { method: 'PUT', path: '/api/v1/policy/{key}', tag: 'Policy' },
  cli: {
    command: 'policy set <key> <value>',
    examples: [
      'flowright policy set flow_authoring_writes_enabled true',
      'flowright policy set flow_authoring_verification_kinds human_review,artifact_exists',
      'flowright policy set proposal_evaluation_required default',
    ],
    render: policyLines,
  },
  errors: ['CONFLICT', 'POLICY_FILE_DAMAGED'],
  audit: ({ key, value }) => ({ key, value: value.slice(0, 200) }),
  handle: async ({ trx, database, policy, files }: Context<Needs>, { key, value }) => {
    const { file, ...rest } = POLICY_KEYS[key];
    const parsed = value === 'default' ? null : parsePolicyText(key, value);
    if (parsed === null && value !== 'default') {
      const wants =
        typeof rest.default === 'boolean'
          ? 'true or false'
          : `words with commas between, of: ${String(rest.default) || 'any'}`;
      const issue = { code: 'invalid_value', message: `must be ${wants}, or default`, path: '/value' };
      throw refusal('BAD_REQUEST', `${key} ${issue.message}.`, { errors: [issue] });
    }
    if (policy.state().origins[key] === 'environment') {
      const env = 'env' in rest ? rest.env : '';
      throw refusal('CONFLICT', `${env} in the hub's environment decides ${key}. Change it there, or take it out.`);
    }
    await takeTurns(trx, database.dialect, 'home');
    const fault = policy.state().damaged.find((damaged) => damaged.file === file);
    if (fault)
      throw refusal('POLICY_FILE_DAMAGED', `${file} cannot be changed because ${fault.reason}. Mend or remove it.`);
    const text = withPolicyKey(await files.text(trx, 'home', file), key, parsed);
    await files.plan(trx, { place: 'home', path: file, text });
    return shown(policy);
  },
  finish: async ({ policy, files }) => {
    await files.settle('home');
    return shown(policy);
  },
});

export const operations = [showPolicy, setPolicy];
