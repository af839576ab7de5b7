import { type Database, type Freshness, Kept } from '../database/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { ERRORS, refusal } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { type Ready, whenReady } from '../kernel/ready.ts';
import { keepReady, type Principal } from '../operations/index.ts';
import type { FlowDefinitionResult, FlowListResult, FlowSearchResult } from './flow-schema.ts';
import { flowsTopic } from './flow-store.ts';
import { type GetOptions, getFlow, type ListOptions, listFlows, type SearchOptions, searchFlows } from './read.ts';
import { ensureSeeded, type SeedOptions } from './starter.ts';

/** Answers kept ready; each is at most a list of 200 summaries or one flow. */
const KEPT_ANSWERS = 500;

type Answer = FlowListResult | FlowSearchResult | FlowDefinitionResult | null;

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
    const answer = this.#answer(principal, `get ${flow_id} ${version ?? ''}`, (visibleScopes) =>
      getFlow(this.#database, principal.vault_id, flow_id, { visibleScopes, version }),
    );
    return whenReady(answer, (found) => {
      if (found) return found;
      const which = version ? `${flow_id} in version ${version}` : flow_id;
      throw refusal('unknown_flow', `There is no flow ${which} that you may see. ${ERRORS.unknown_flow.next}`);
    });
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
      await ensureSeeded({ database: this.#database, clock: this.#clock }, vault_id, this.#seed);
      const answer = await compute(visible_scopes);
      return answer && keepReady(answer);
    }) as Ready<T>;
  }
}

function ambiguousScope() {
  return refusal(
    'FLOW_SCOPE_AMBIGUOUS',
    `Your membership in this vault does not say clearly which flows you may see. ${ERRORS.FLOW_SCOPE_AMBIGUOUS.next}`,
  );
}
