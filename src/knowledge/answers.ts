import * as z from 'zod';
import { traceOutput } from '../operations/index.ts';
import { VERDICTS } from './audit-compare.ts';
import { OUTCOMES, PARTS } from './refresh-report.ts';
import { STATES } from './status.ts';

const server = z.string().nullable().describe('The Flowise server that is meant; null when none is configured');

const KnowledgePart = z
  .strictObject({
    part: z.enum(PARTS).describe('What it is about'),
    state: z.enum(STATES).describe('ok: it can be relied on; anything else is explained by reason'),
    origin: z
      .enum(['own', 'baseline', 'none'])
      .describe('What is answered from: this server, or what came with Flowright'),
    items: z.int().describe('How many entries'),
    generated_at: z.string().nullable().describe('When it was written'),
    checked_at: z.string().nullable().describe('When it was last found to be what the server has'),
    age_seconds: z.int().nullable().describe('Since checked_at'),
    ttl_seconds: z.int().nullable().describe('Age from which it is asked for again; null for never'),
    ttl_left_seconds: z.int().nullable().describe('How long until then'),
    source: z.string().nullable().describe('Where the entries come from'),
    source_host: z.string().nullable().describe('The server they tell of; null for none in particular'),
    flowise_version: z.string().nullable().describe('Its version, where it is known'),
    sha256: z.string().nullable().describe('Fingerprint of the snapshot'),
    repairs: z.int().describe('Entries that were missing and fetched one by one'),
    removed: z.int().describe('Entries that the server has no more; kept and not used'),
    reason: z.string().nullable().describe('What is wrong with the snapshot of this server'),
  })
  .meta({ id: 'KnowledgePart' });

export const KnowledgeStatusResponse = z
  .strictObject({ ok: z.literal(true), server, parts: z.array(KnowledgePart), ...traceOutput })
  .meta({ id: 'KnowledgeStatusResponse' });
export type KnowledgeStatusResponse = z.output<typeof KnowledgeStatusResponse>;

const RefreshedPart = z
  .strictObject({
    part: z.enum(PARTS).describe('What it is about'),
    outcome: z.enum(OUTCOMES).describe('What became of it'),
    line: z.string().describe('The same in one line for people and logs'),
    items: z.int().describe('How many entries there are'),
    new: z.array(z.string()).describe('Names of entries that were not known'),
    changed: z
      .array(z.strictObject({ name: z.string(), fields: z.array(z.string()).describe('Which fields') }))
      .describe('Entries that are different now'),
    removed: z.array(z.string()).describe('Names of entries that are gone; they are kept and not used'),
    texts: z.int().describe('How many entries differ in their sentences alone'),
    issues: z
      .array(z.strictObject({ code: z.string(), message: z.string(), path: z.string().describe('Where') }))
      .describe('What validation found'),
    error: z.strictObject({ code: z.string(), message: z.string() }).optional().describe('Why this part failed'),
    reference: z.string().optional().describe('Where the reference was written'),
  })
  .meta({ id: 'RefreshedPart' });

export const KnowledgeRefreshResponse = z
  .strictObject({
    ok: z.boolean().describe('Whether every part went well'),
    server,
    dry_run: z.boolean().describe('Nothing was written'),
    validate: z.boolean().describe('Nobody was asked: what is on the disk was checked'),
    exit_code: z.int().min(0).max(2).describe('The worst of the parts: 0 fine, 1 problems found, 2 failed'),
    parts: z.array(RefreshedPart),
    ...traceOutput,
  })
  .meta({ id: 'KnowledgeRefreshResponse' });
export type KnowledgeRefreshResponse = z.output<typeof KnowledgeRefreshResponse>;

const AuditedNode = z
  .strictObject({
    node_type: z.string(),
    verdict: z.enum(VERDICTS),
    differences: z.array(
      z.strictObject({
        path: z.string().describe('Which field, such as /input_params/modelName/default'),
        kind: z
          .enum(['missing', 'extra', 'changed', 'order'])
          .describe('missing: the server has it, the snapshot has not'),
        severity: z.enum(['MINOR', 'MAJOR', 'CRITICAL']),
        snapshot: z.string().nullable().describe('JSON of what is known, shortened'),
        live: z.string().nullable().describe('JSON of what the server says, shortened'),
      }),
    ),
    more: z.int().describe('How many further differences there are'),
  })
  .meta({ id: 'AuditedNode' });

export const KnowledgeAuditResponse = z
  .strictObject({
    ok: z.boolean().describe('No node is MAJOR or CRITICAL'),
    server: z.string(),
    source_host: z.string().describe('The server that was asked'),
    flowise_version: z.string().nullable(),
    generated_at: z.string(),
    origin: z
      .enum(['own', 'baseline', 'none'])
      .describe('What was compared: the snapshot of this server, or what came with Flowright'),
    ci: z.boolean().describe('Whether the command ends with 1 unless ok'),
    summary: z.strictObject({
      live: z.int().describe('Nodes of the server'),
      local: z.int().describe('Nodes of the snapshot'),
      texts: z.int().describe('Sentences that are worded otherwise; nothing depends on them'),
      PASS: z.int(),
      MINOR: z.int().describe('Order, looks, or not on the server'),
      MAJOR: z.int().describe('A field that the compiler or the canvas uses differs'),
      CRITICAL: z.int().describe('Not known at all, or without outputs'),
    }),
    nodes: z.array(AuditedNode).describe('Those that did not pass, worst first'),
    ...traceOutput,
  })
  .meta({ id: 'KnowledgeAuditResponse' });
export type KnowledgeAuditResponse = z.output<typeof KnowledgeAuditResponse>;
