import { isoNow } from '../kernel/clock.ts';
import { allowlisted, credentialEntry } from './credential-entry.ts';
import { ListedStore } from './listed-store.ts';
import type { CredentialAnswer, CredentialEntry } from './port.ts';
import { once, type SessionMemory, shownQuery } from './session-memory.ts';
import type { StoreContext } from './store-context.ts';

/** Credentials of one server, without anything secret. */
export class CredentialStore {
  readonly #context: StoreContext;
  readonly #list: ListedStore<CredentialEntry>;

  constructor(context: StoreContext) {
    this.#context = context;
    this.#list = new ListedStore(context, {
      kind: 'flowise_credentials',
      plural: 'credentials',
      ttlSeconds: context.credentialTtlSeconds,
      hasBaseline: false,
      idOf: ({ credential_id }) => credential_id,
      parse: allowlisted,
      fetch: async () => (await context.client.listCredentials()).flatMap((api) => credentialEntry(api) ?? []),
    });
  }

  /** Local only: the id of the one credential that is meant, else null. */
  resolve(nameOrType: string): string | null {
    const answer = this.answer(nameOrType);
    return answer.found === 'one' ? answer.credential.credential_id : null;
  }

  /** Local only. By id, by name, by name without regard to case, then by type; several are for a person to choose from. */
  answer(nameOrType: string): CredentialAnswer {
    const { entries } = this.#list;
    const wanted = nameOrType.trim().toLowerCase();
    const readings: ((entry: CredentialEntry) => boolean)[] = [
      ({ credential_id }) => credential_id.toLowerCase() === wanted,
      ({ name }) => name === nameOrType,
      ({ name }) => name.trim().toLowerCase() === wanted,
      ({ type }) => type.toLowerCase() === wanted,
    ];
    for (const fits of readings) {
      const [first, ...others] = entries.filter(fits);
      if (first) {
        return others.length === 0
          ? { found: 'one', credential: first }
          : { found: 'several', choices: Object.freeze([first, ...others]) };
      }
    }
    return { found: 'none' };
  }

  async list(memory: SessionMemory): Promise<readonly CredentialEntry[]> {
    await this.#begin(memory);
    return this.#list.entries;
  }

  /** Local first; what is not known here makes one request for the list. */
  async resolveOrRepair(nameOrType: string, memory: SessionMemory): Promise<CredentialAnswer> {
    const from = await this.#begin(memory);
    const answer = this.answer(nameOrType);
    if (answer.found !== 'none') return answer;
    return once(memory.credentialRepairs, nameOrType, async () =>
      // A list that was fetched for this very question would say the same once more.
      from === 'API' ? this.#notFound(nameOrType, memory) : this.#repair(nameOrType, memory),
    );
  }

  async #begin(memory: SessionMemory): Promise<'snapshot' | 'API'> {
    const isFirst = !memory.begun.has('flowise_credentials');
    const from = await this.#list.ready(memory);
    if (isFirst) {
      const line = `[knowledge] credentials loaded: ${this.#list.entries.length} items (from ${from})`;
      this.#context.log.info({ server: this.#context.client.server }, line);
    }
    return from;
  }

  async #repair(nameOrType: string, memory: SessionMemory): Promise<CredentialAnswer> {
    const event = this.#event(nameOrType);
    if (memory.failed.has('flowise_credentials')) return { found: 'none' };
    const fetched = await this.#list.fetch(memory);
    if (!fetched) {
      memory.events.push({ ...event, action: 'fetch_error' });
      return { found: 'none' };
    }
    const answer = this.answer(nameOrType);
    const { added, changed, removed } = fetched;
    const detail = `${added} added, ${changed} changed, ${removed} removed`;
    memory.events.push({ ...event, action: answer.found === 'none' ? 'not_found' : 'repaired', detail });
    if (this.#context.repairLog) {
      const { log, client } = this.#context;
      log.warn({ server: client.server }, `[knowledge] repaired snapshot: credentials from API (${detail})`);
    }
    return answer;
  }

  #notFound(nameOrType: string, memory: SessionMemory): CredentialAnswer {
    memory.events.push({ ...this.#event(nameOrType), action: 'not_found' });
    return { found: 'none' };
  }

  #event(nameOrType: string) {
    const timestamp = isoNow(this.#context.clock);
    return { kind: 'credential', node_type: shownQuery(nameOrType), timestamp } as const;
  }
}
