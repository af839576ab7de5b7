import type { Database } from '../../src/database/index.ts';
import { type FlowBundle, flowSummaryForClient } from '../../src/flows/index.ts';
import { makeVault } from '../data-integrity/library.ts';
import { sampleFlow } from '../support/flows.ts';

const CHUNK = 500;

type Kind = { scope?: 'personal' | 'project' | 'org'; tags?: string[] };

export function numberedFlow(at: number, kind: Kind = {}): FlowBundle {
  return sampleFlow(`flow_n${at}`, {
    steps: 1,
    tags: ['bench'],
    summary: 'Handles one kind of ticket from arrival to proof that it was solved.',
    updated: new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString(),
    ...kind,
  });
}

/**
 * Fills a vault's index with what lists read, many rows a statement: writing 10,000 flows one by one takes a minute.
 * A test holds these rows to those of addVersion.
 */
export async function fillVault(database: Database, vaultId: string, kinds: Kind[]): Promise<void> {
  await makeVault(database, vaultId);
  for (let from = 0; from < kinds.length; from += CHUNK) {
    const flows = kinds.slice(from, from + CHUNK).map((kind, at) => numberedFlow(from + at, kind).flow);
    const keys = flows.map(({ flow_id, scope, updated }) => {
      return { vault_id: vaultId, flow_id, scope, updated_ms: Date.parse(updated) };
    });
    await database.transaction(async (trx) => {
      const heads = flows.map((flow, at) => ({
        ...(keys[at] as (typeof keys)[number]),
        version: flow.version,
        summary_json: JSON.stringify(flowSummaryForClient(flow)),
        state_id: 'flowst1_0000000000000000',
        content_sha256: '0'.repeat(64),
        retired_at: null,
      }));
      await trx.insertInto('flows').values(heads).execute();
      const tags = flows.flatMap((flow, at) =>
        flow.tags.map((tag) => ({ ...(keys[at] as (typeof keys)[number]), tag })),
      );
      await trx.insertInto('flow_tags').values(tags).execute();
    });
  }
}
