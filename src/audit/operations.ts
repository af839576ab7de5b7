import * as z from 'zod';
import { refusal } from '../kernel/errors.ts';
import { textTable } from '../kernel/terminal.ts';
import { type Context, defineOperation } from '../operations/index.ts';
import type { AuditLog } from './log.ts';

interface Needs {
  auditLog: AuditLog;
}

const MAX_PAGE = 200;
const DEFAULT_PAGE = 50;

const chain = z
  .enum(['vault', 'hub'])
  .default('vault')
  .describe('The log of this vault, or that of refused sign-ins of the whole hub');

const AuditEntrySchema = z
  .strictObject({
    sequence: z.int(),
    at: z.string(),
    user_id: z.string(),
    actor_hash: z.string(),
    door: z.string(),
    action: z.string(),
    outcome: z.enum(['done', 'refused']),
    code: z.string().nullable(),
    occurrences: z.int().describe('How many like acts this line stands for'),
    request_id: z.string(),
    detail: z.record(z.string(), z.unknown()),
    hash: z.string().describe('Follows from this line and the one before'),
  })
  .meta({ id: 'AuditEntry' });

function chainOf(context: Context<Needs>, which: 'vault' | 'hub'): string {
  if (which === 'vault') return context.principal.vault_id;
  if (context.principal.vault_id === 'default') return '';
  throw refusal('FORBIDDEN', 'The log of the whole hub is for admins of the vault default.');
}

const listAudit = defineOperation({
  name: 'audit.list',
  summary: 'Read the audit log, newest first',
  input: z.strictObject({
    chain,
    before: z.int().min(1).optional().describe('Only lines before this sequence'),
    limit: z.int().min(1).max(MAX_PAGE).optional().describe('How many at most'),
  }),
  output: z
    .strictObject({
      schema: z.literal('flowright.audit_list/v1'),
      entries: z.array(AuditEntrySchema),
      next_before: z.int().nullable().describe('Pass as `before` for the next page; null at the end'),
    })
    .meta({ id: 'AuditListResponse' }),
  access: { can: 'administer' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/audit', tag: 'Audit' },
  cli: {
    command: 'audit list',
    render: ({ entries }) =>
      entries.length === 0
        ? '(nothing yet)'
        : textTable(
            ['#', 'WHEN', 'WHO', 'DOOR', 'ACTION', 'OUTCOME', 'DETAIL'],
            entries.map((entry) => [
              String(entry.sequence),
              entry.at,
              entry.user_id,
              entry.door,
              entry.action,
              entry.code ? `${entry.outcome} ${entry.code} ×${entry.occurrences}` : entry.outcome,
              JSON.stringify(entry.detail),
            ]),
          ),
  },
  handle: async (context: Context<Needs>, input) => {
    const limit = input.limit ?? DEFAULT_PAGE;
    const page = await context.auditLog.page(chainOf(context, input.chain), { before: input.before, limit });
    const entries = page.map(({ vault_id: _vault, previous_hash: _previous, ...entry }) => ({
      sequence: entry.sequence,
      at: entry.at,
      user_id: entry.user_id,
      actor_hash: entry.actor_hash,
      door: entry.door,
      action: entry.action,
      outcome: entry.outcome,
      code: entry.code,
      occurrences: entry.occurrences,
      request_id: entry.request_id,
      detail: entry.detail,
      hash: entry.hash,
    }));
    const last = entries.at(-1);
    const next_before = last && entries.length === limit && last.sequence > 1 ? last.sequence : null;
    return { schema: 'flowright.audit_list/v1' as const, entries, next_before };
  },
});

const verifyAudit = defineOperation({
  name: 'audit.verify',
  summary: 'Check that no line of the audit log was changed or removed',
  input: z.strictObject({ chain }),
  output: z
    .strictObject({
      schema: z.literal('flowright.audit_verify/v1'),
      ok: z.boolean(),
      entries: z.int().describe('Lines that follow from each other'),
      broken_at: z.int().nullable().describe('First line that does not'),
      head: z.string().describe('Hash of the last sound line; note it elsewhere to detect a cut-off end'),
    })
    .meta({ id: 'AuditVerifyResponse' }),
  access: { can: 'administer' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/audit/verify', tag: 'Audit' },
  cli: {
    command: 'audit verify',
    isBadNews: ({ ok }) => !ok,
    render: (answer) =>
      answer.ok
        ? `The log is sound: ${answer.entries} lines, head ${answer.head.slice(0, 16)}…`
        : `The log is BROKEN at line ${answer.broken_at}; the ${answer.entries} lines before it are sound.`,
  },
  handle: async (context: Context<Needs>, input) => {
    const { entries, broken_at, head } = await context.auditLog.verify(chainOf(context, input.chain));
    return { schema: 'flowright.audit_verify/v1' as const, ok: broken_at === null, entries, broken_at, head };
  },
});

export const operations = [listAudit, verifyAudit];
