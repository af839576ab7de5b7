import * as z from 'zod';
import type { Database } from '../database/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { isoNow } from '../kernel/clock.ts';
import { refusal } from '../kernel/errors.ts';
import { textTable } from '../kernel/terminal.ts';
import { type Context, pageInput, pageOutput } from '../operations/index.ts';
import { type ArtifactFilter, findArtifact, listArtifacts } from './history.ts';
import { ArtifactRecord } from './record.ts';

export interface ArtifactNeeds {
  database: Database;
  clock: Clock;
}

export const Id = z.int().positive();

/** What every list of artifacts may be asked for. */
export const artifactPage = {
  order: z.enum(['asc', 'desc']).default('desc').describe('desc: newest first'),
  ...pageInput,
};

export const runFilters = {
  flowchart_id: Id.optional().describe('Only of this flowchart'),
  flowchart_run_id: Id.optional().describe('Only of this run'),
  flowchart_node_id: Id.optional().describe('Only of this node'),
};

export const artifactPageOutput = {
  ...pageOutput,
  items: z.array(ArtifactRecord),
};

export async function pageOf(
  { database, clock, principal }: Context<ArtifactNeeds>,
  filter: ArtifactFilter,
  { order, limit, offset }: { order: 'asc' | 'desc'; limit: number; offset: number },
) {
  const request = { vault_id: principal.vault_id, order, limit, offset, now: isoNow(clock) };
  const { items, total } = await listArtifacts(database.queries, filter, request);
  return { count: items.length, total_count: total, limit, offset, items };
}

export async function artifactOf(
  { database, clock, principal }: Context<ArtifactNeeds>,
  filter: ArtifactFilter & { artifact_id: number },
): Promise<ArtifactRecord> {
  const where = { vault_id: principal.vault_id, now: isoNow(clock) };
  const found = await findArtifact(database.queries, filter, where);
  if (!found) throw unknownArtifact(filter.artifact_id);
  return found;
}

export function unknownArtifact(artifactId: number) {
  return refusal(
    'NOT_FOUND',
    `There is no artifact ${artifactId} here that you may see; it may have expired. List them with \`flowright artifact list\`.`,
  );
}

export function artifactTable({ items, total_count }: { items: ArtifactRecord[]; total_count: number }): string {
  if (items.length === 0) return '(no artifacts)';
  const rows = items.map((item) => [
    String(item.id),
    item.artifact_type,
    item.ref_id === null ? '' : String(item.ref_id),
    String(item.flowchart_run_id),
    String(item.flowchart_node_id),
    item.created_at,
    item.expires_at ?? 'kept',
  ]);
  const table = textTable(['ARTIFACT', 'TYPE', 'REF', 'RUN', 'NODE', 'CREATED', 'UNTIL'], rows);
  return `${table}\n${items.length} shown, ${total_count} in all`;
}

export function artifactCard({ item }: { item: ArtifactRecord }): string {
  const { payload, ...rest } = item;
  const width = Math.max(...Object.keys(rest).map((key) => key.length));
  const lines = Object.entries(rest).map(([key, value]) => `${key.padEnd(width)}  ${value ?? ''}`);
  return [...lines, '', JSON.stringify(payload, null, 2)].join('\n');
}
