import { type Database, type Freshness, Kept } from '../database/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { ERRORS, type FlowrightError, refusal } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { type Ready, whenReady } from '../kernel/ready.ts';
import { keepReady, may, type Principal } from '../operations/index.ts';
import { type FlowPage, type PageOptions, pageOfFlows, withSteps } from './flow-pages.ts';
import type { Flow, FlowBundle, FlowDefinitionResult, FlowListResult, FlowSearchResult } from './flow-schema.ts';
import { flowsTopic } from './flow-store.ts';
import { type GetOptions, getFlow, type ListOptions, listFlows, type SearchOptions, searchFlows } from './read.ts';
import { ensureSeeded, type SeedOptions } from './starter.ts';
import { type FlowVersionsResult, listVersions, versionNumbers } from './versions.ts';

/** Answers kept ready; each is at most a list of 200 summaries or one flow. */
const KEPT_ANSWERS = 500;

type Answer = FlowListResult | FlowSearchResult | FlowDefinitionResult | FlowVersionsResult | string[] | null;

/**
 * The read side of the flow library for principals: what each may see, and nothing that tells of the rest. Answers are
 * kept ready until the vault's flows change, in this process or another.
 */
export class FlowLibrary {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #kept: Kept<Answer>;
  readonly #seed: SeedOptions;

  constructor(needs: { database: Database; freshness: Freshness; clock: Clock; log: Log; starterDir?: string }) {
    this.#database = needs.database;
    this.#clock = needs.clock;
    this.#kept = new Kept(needs.freshness, KEPT_ANSWERS);
    this.#seed = {
      ...(needs.starterDir ? { starterDir: needs.starterDir } : {}),
      onReject: (file, reason) => needs.log.warn({ file, reason }, `starter flow ${file} was skipped: ${reason}`),
    };
  }

  /** Gives the vault the starters it has not had yet; what every flow operation begins with. */
  async ready(vaultId: string): Promise<void> {
    await ensureSeeded({ database: this.#database, clock: this.#clock }, vaultId, this.#seed);
  }

  list(principal: Principal, input: Omit<ListOptions, 'visibleScopes'>): Ready<FlowListResult> {
    return this.#answer(principal, JSON.stringify(['list', input.scope, input.tag, input.limit]), (visibleScopes) =>
      listFlows(this.#database, principal.vault_id, { ...input, visibleScopes }),
    );
  }

  search(principal: Principal, input: Omit<SearchOptions, 'visibleScopes'>): Ready<FlowSearchResult> {
    return this.#answer(principal, JSON.stringify(['search', input.query, input.scope, input.limit]), (visibleScopes) =>
      searchFlows(this.#database, principal.vault_id, { ...input, visibleScopes }),
    );
  }

  get(principal: Principal, input: { flow_id: string } & Pick<GetOptions, 'version'>): Ready<FlowDefinitionResult> {
    const { flow_id, version } = input;
    // The flag is in the question: two members may hold the same scopes, and only one of them administers.
    const includeRetired = version !== undefined && may(principal, 'administer');
    const question = `get ${flow_id} ${version ?? ''}${includeRetired ? ' retired' : ''}`;
    const answer = this.#answer(principal, question, (visibleScopes) =>
      getFlow(this.#database, principal.vault_id, flow_id, { visibleScopes, version, includeRetired }),
    );
    return whenReady(answer, (found) => found ?? unknownFlow(version ? `${flow_id} in version ${version}` : flow_id));
  }

  /** The versions of a flow, highest first. */
  versions(principal: Principal, input: { flow_id: string; limit?: number | undefined }): Ready<FlowVersionsResult> {
    const { flow_id, limit } = input;
    const includeRetired = may(principal, 'administer');
    const question = JSON.stringify(['versions', flow_id, limit, includeRetired]);
    const answer = this.#answer(principal, question, (visibleScopes) =>
      listVersions(this.#database, principal.vault_id, flow_id, { visibleScopes, limit, includeRetired }),
    );
    return whenReady(answer, (found) => found ?? unknownFlow(flow_id));
  }

  /** The numbers of all versions of a flow, highest first. */
  versionNumbers(principal: Principal, flowId: string): Ready<string[]> {
    const includeRetired = may(principal, 'administer');
    const question = JSON.stringify(['version numbers', flowId, includeRetired]);
    const answer = this.#answer(principal, question, (visibleScopes) =>
      versionNumbers(this.#database, principal.vault_id, flowId, { visibleScopes, includeRetired }),
    );
    return whenReady(answer, (found) => found ?? unknownFlow(flowId));
  }

  /** Every visible flow, page by page; not kept ready, because a page may be large and is rarely asked for twice. */
  async page(principal: Principal, input: Omit<PageOptions, 'visibleScopes'>): Promise<FlowPage<Flow>> {
    if (principal.ambiguous) throw ambiguousScope();
    const { vault_id, visible_scopes } = principal;
    await this.ready(vault_id);
    return pageOfFlows(this.#database, vault_id, { ...input, visibleScopes: visible_scopes });
  }

  /** As `page`, with the steps of each flow. */
  async pageWithSteps(principal: Principal, input: Omit<PageOptions, 'visibleScopes'>): Promise<FlowPage<FlowBundle>> {
    const { flows, next } = await this.page(principal, input);
    return { flows: await withSteps(this.#database, principal.vault_id, flows), next };
  }

  #answer<T extends Answer>(
    principal: Principal,
    question: string,
    compute: (visibleScopes: Principal['visible_scopes']) => Promise<T>,
  ): Ready<T> {
    if (principal.ambiguous) throw ambiguousScope();
    const { vault_id, visible_scopes } = principal;
    const key = `${vault_id} ${[...visible_scopes].join()} ${question}`;
    return this.#kept.get(flowsTopic(vault_id), key, async () => {
      await this.ready(vault_id);
      const answer = await compute(visible_scopes);
      return answer && keepReady(answer);
    }) as Ready<T>;
  }
}

function unknownFlow(which: string): never {
  throw refusal('unknown_flow', `There is no flow ${which} that you may see. ${ERRORS.unknown_flow.next}`);
}

/** The refusal of whoever's membership does not say what may be seen. */
export function ambiguousScope(): FlowrightError {
  return refusal(
    'FLOW_SCOPE_AMBIGUOUS',
    `Your membership in this vault does not say clearly which flows you may see. ${ERRORS.FLOW_SCOPE_AMBIGUOUS.next}`,
  );
}
