import { refusal } from '../kernel/errors.ts';
import { allowlisted, credentialEntry } from './credential-entry.ts';
import type { CredentialEntry, TemplateEntry } from './port.ts';
import { type PartReport, refreshed } from './refresh-report.ts';
import { type RefreshTarget, refreshListing } from './refresh-target.ts';
import { readSnapshot } from './snapshot-file.ts';
import { templateEntries } from './template-entry.ts';

const TEXTS = ['description'];
const STAMPS = ['flow_reference', 'version_label', 'snapshot_at'];

export async function refreshTemplates(target: RefreshTarget): Promise<PartReport> {
  const client = await target.client();
  const answer = await client.listTemplates();
  const own = readSnapshot(target.folder, 'flowise_templates');
  const known = own.state === 'ok' ? own.items.flatMap((item) => asTemplate(item) ?? []) : [];
  const listed = templateEntries(answer, known, target.now);
  if (listed.length === 0) {
    // A marketplace is never empty; an empty answer must not wipe what is known.
    throw refusal('FLOWISE_BAD_ANSWER', `Flowise server ${client.server} lists no templates.`);
  }
  const baseline = readSnapshot(target.baselineDir, 'flowise_templates');
  const items = baseline.state === 'ok' ? baseline.items.flatMap((item) => asTemplate(item) ?? []) : [];
  const { settled, result } = await refreshListing<TemplateEntry>(target, {
    kind: 'flowise_templates',
    listed,
    listedIn: 'API',
    source: 'flowise_api',
    source_host: target.host,
    flowise_version: await target.version(),
    idOf: ({ template_id }) => template_id,
    nameOf: ({ name }) => name,
    parse: asTemplate,
    baseline: { items, texts: TEXTS, stamps: STAMPS },
  });
  return refreshed('templates', settled, result);
}

export async function refreshCredentials(target: RefreshTarget): Promise<PartReport> {
  const client = await target.client();
  const listed = (await client.listCredentials()).flatMap((api) => credentialEntry(api) ?? []);
  const { settled, result } = await refreshListing<CredentialEntry>(target, {
    kind: 'flowise_credentials',
    listed,
    listedIn: 'API',
    source: 'flowise_api',
    source_host: target.host,
    flowise_version: await target.version(),
    idOf: ({ credential_id }) => credential_id,
    nameOf: ({ name }) => name,
    parse: allowlisted,
  });
  return refreshed('credentials', settled, result);
}

function asTemplate(item: unknown): TemplateEntry | null {
  const { template_id, name, type } = (item ?? {}) as Partial<TemplateEntry>;
  const isOne = typeof template_id === 'string' && typeof name === 'string' && typeof type === 'string';
  return isOne ? (item as TemplateEntry) : null;
}
