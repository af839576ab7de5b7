import { isoNow } from '../kernel/clock.ts';
import { refusal } from '../kernel/errors.ts';
import { ListedStore } from './listed-store.ts';
import type { TemplateEntry } from './port.ts';
import type { SessionMemory } from './session-memory.ts';
import type { StoreContext } from './store-context.ts';
import { templateEntries } from './template-entry.ts';
import { findTemplates } from './template-search.ts';

/** Marketplace templates of one server: what they are, not their flows. */
export class TemplateStore {
  readonly #context: StoreContext;
  readonly #list: ListedStore<TemplateEntry>;

  constructor(context: StoreContext) {
    this.#context = context;
    this.#list = new ListedStore(context, {
      kind: 'flowise_templates',
      plural: 'templates',
      ttlSeconds: context.templateTtlSeconds,
      hasBaseline: true,
      idOf: ({ template_id }) => template_id,
      parse: parsedTemplate,
      fetch: (known) => this.#fetched(known),
    });
  }

  /** Local only. */
  get(templateId: string): TemplateEntry | null {
    return this.#list.entries.find(({ template_id }) => template_id === templateId) ?? null;
  }

  /** Local only. */
  find(tags: readonly string[], limit = 3, type?: string): TemplateEntry[] {
    return findTemplates(this.#list.entries, tags, limit, type);
  }

  async ready(memory: SessionMemory): Promise<void> {
    await this.#list.ready(memory);
  }

  /** The flow as JSON text, fetched and not kept; null when the server has the template no more, or it has no flow. */
  async flowOf({ type, name }: Pick<TemplateEntry, 'type' | 'name'>): Promise<string | null> {
    const listed = await this.#context.client.listTemplates();
    const found = listed.find((template) => template.type === type && template.templateName === name);
    return found?.flowData ?? null;
  }

  /** A marketplace is never empty; an empty answer must not wipe what is known. */
  async #fetched(known: readonly TemplateEntry[]): Promise<TemplateEntry[]> {
    const { client, clock } = this.#context;
    const entries = templateEntries(await client.listTemplates(), known, isoNow(clock));
    if (entries.length > 0) return entries;
    throw refusal('FLOWISE_BAD_ANSWER', `Flowise server ${client.server} lists no templates.`);
  }
}

function parsedTemplate(item: unknown): TemplateEntry | null {
  if (item === null || typeof item !== 'object') return null;
  const { template_id, name, type, tags, description } = item as Partial<TemplateEntry>;
  const isOne = typeof template_id === 'string' && typeof name === 'string' && Array.isArray(tags);
  return isOne && typeof type === 'string' && typeof description === 'string' ? (item as TemplateEntry) : null;
}
