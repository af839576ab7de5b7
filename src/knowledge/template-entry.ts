import type { ApiTemplate } from '../flowise/index.ts';
import { stableStringify } from '../kernel/canonical-json.ts';
import { sha256Hex } from '../kernel/hash.ts';
import type { TemplateEntry } from './port.ts';

const FLOW_REFERENCE =
  'flowData is not kept; it is fetched on demand via GET /api/v1/marketplaces/templates, by type and name';
const DESCRIPTION_LIMIT = 1_000;
const SLUG_LIMIT = 60;
const HASH_DIGITS = 8;

/** Made of type and name, because a server gives another id on every request. Readable, and two names never share one. */
export function templateId(type: string, name: string): string {
  const slug = `${type} ${name}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return `${slug.slice(0, SLUG_LIMIT)}-${sha256Hex(`${type}\n${name}`).slice(0, HASH_DIGITS)}`;
}

/** What is kept of a marketplace. An entry that says what it said before keeps its stamps. */
export function templateEntries(
  listed: readonly ApiTemplate[],
  known: readonly TemplateEntry[],
  now: string,
): TemplateEntry[] {
  const before = new Map(known.map((entry) => [entry.template_id, entry]));
  const entries = listed.flatMap((template) => templateEntry(template, now) ?? []);
  const unique = [...new Map(entries.map((entry) => [entry.template_id, entry])).values()];
  return unique.map((entry) => {
    const old = before.get(entry.template_id);
    return old && content(old) === content(entry) ? old : entry;
  });
}

export function templateEntry(template: ApiTemplate, now: string): TemplateEntry | null {
  const { templateName: name, type } = template;
  if (typeof name !== 'string' || name === '' || typeof type !== 'string') return null;
  const framework = words(template.framework);
  const usecases = words(template.usecases);
  const categories = words(template.categories);
  return {
    template_id: templateId(type, name),
    name,
    type,
    description: typeof template.description === 'string' ? template.description.slice(0, DESCRIPTION_LIMIT) : '',
    tags: tagsOf(name, usecases, categories, framework),
    badge: typeof template.badge === 'string' && template.badge !== '' ? template.badge : null,
    framework,
    usecases,
    categories,
    flow_reference: FLOW_REFERENCE,
    version_label: `snapshot-${now.slice(0, 10)}`,
    snapshot_at: now,
  };
}

const FILLERS = new Set(['and', 'the', 'for', 'with', 'from', 'into', 'using']);

/** A marketplace has no tags of its own. */
function tagsOf(name: string, usecases: string[], categories: string[], framework: string[]): string[] {
  const nameWords = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1);
  const phrases = [...usecases, ...categories, ...framework, ...nameWords].map((tag) => tag.toLowerCase());
  const retrieves = phrases.includes('documents qna') || phrases.includes('vector stores');
  const tags = [...phrases, ...(retrieves ? ['rag'] : [])];
  return [...new Set(tags)].filter((tag) => !FILLERS.has(tag));
}

function content(entry: TemplateEntry): string {
  const { version_label: _, snapshot_at: __, ...rest } = entry;
  return stableStringify(rest);
}

/** Categories come as a list, or as text with semicolons or commas from older servers. */
function words(value: unknown): string[] {
  const list = typeof value === 'string' ? value.split(/[;,]/) : Array.isArray(value) ? value : [];
  return list.flatMap((word) => (typeof word === 'string' && word.trim() !== '' ? [word.trim()] : []));
}
