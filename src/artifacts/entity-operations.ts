import * as z from 'zod';
import type { Queries } from '../database/index.ts';
import { refusal } from '../kernel/errors.ts';
import { type AnyOperation, type Context, defineOperation, traceOf, traceOutput } from '../operations/index.ts';
import {
  type ArtifactNeeds,
  artifactOf,
  artifactPage,
  artifactPageOutput,
  Id,
  pageOf,
  runFilters,
  unknownArtifact,
} from './page.ts';
import { ArtifactRecord } from './record.ts';

interface Entity {
  word: 'plan' | 'memory' | 'milestone';
  table: 'plans' | 'memories' | 'milestones';
  tag: string;
}

const ENTITIES: readonly Entity[] = [
  { word: 'plan', table: 'plans', tag: 'Plans' },
  { word: 'memory', table: 'memories', tag: 'Memories' },
  { word: 'milestone', table: 'milestones', tag: 'Milestones' },
];

/** Missing and of another vault are the same answer, and come before anything about the artifact. */
async function assertEntity(queries: Queries, { word, table }: Entity, id: number, vaultId: string): Promise<void> {
  const row = await queries
    .selectFrom(table)
    .select('id')
    .where('id', '=', id)
    .where('vault_id', '=', vaultId)
    .executeTakeFirst();
  if (!row) {
    throw refusal(
      'NOT_FOUND',
      `There is no ${word} ${id} that you may see. List them with \`flowright ${word} list\`.`,
    );
  }
}

/** The artifacts of one kind of entity: what runs did with this plan, memory or milestone. */
function operationsFor(entity: Entity): AnyOperation[] {
  const { word, table, tag } = entity;
  const key = `${word}_id`;
  const title = word[0]?.toUpperCase() + word.slice(1);
  const path = `/api/v1/${table}/{${key}}/artifacts`;
  const identity = { [key]: Id.describe(`Id of the ${word}`) };
  const one = { ...identity, artifact_id: Id.describe('Id of the artifact') };
  const idIn = (input: object): number => (input as Record<string, number>)[key] as number;
  const filterFor = (id: number) => ({ artifact_type: word, ref_id: id });
  const check = (queries: Queries, { principal }: Context<ArtifactNeeds>, id: number) =>
    assertEntity(queries, entity, id, principal.vault_id);

  const list = defineOperation({
    name: `artifact.of_${word}_list`,
    summary: `List what runs left behind for a ${word}`,
    input: z.strictObject({ ...identity, ...runFilters, ...artifactPage }),
    output: z
      .strictObject({ ok: z.literal(true), ...identity, ...artifactPageOutput, ...traceOutput })
      .meta({ id: `${title}ArtifactListResponse` }),
    access: { can: 'read' },
    effect: 'read',
    http: { method: 'GET', path, tag },
    errors: ['NOT_FOUND'],
    handle: async (context: Context<ArtifactNeeds>, input) => {
      const id = idIn(input);
      await check(context.database.queries, context, id);
      const { flowchart_id, flowchart_run_id, flowchart_node_id } = input;
      const filter = { ...filterFor(id), flowchart_id, flowchart_run_id, flowchart_node_id };
      return { ok: true as const, [key]: id, ...(await pageOf(context, filter, input)), ...traceOf(context) };
    },
  });

  const get = defineOperation({
    name: `artifact.of_${word}_get`,
    summary: `Read one artifact of a ${word}`,
    input: z.strictObject(one),
    output: z
      .strictObject({ ok: z.literal(true), ...identity, item: ArtifactRecord, ...traceOutput })
      .meta({ id: `${title}ArtifactResponse` }),
    access: { can: 'read' },
    effect: 'read',
    http: { method: 'GET', path: `${path}/{artifact_id}`, tag },
    errors: ['NOT_FOUND'],
    handle: async (context: Context<ArtifactNeeds>, input) => {
      const id = idIn(input);
      await check(context.database.queries, context, id);
      const item = await artifactOf(context, { ...filterFor(id), artifact_id: input.artifact_id });
      return { ok: true as const, [key]: id, item, ...traceOf(context) };
    },
  });

  const remove = defineOperation({
    name: `artifact.of_${word}_delete`,
    summary: `Remove one artifact of a ${word}; the run it came from keeps its outputs`,
    input: z.strictObject(one),
    output: z
      .strictObject({
        ok: z.literal(true),
        deleted: z.literal(true),
        ...identity,
        artifact_id: Id,
        ...traceOutput,
      })
      .meta({ id: `${title}ArtifactDeletedResponse` }),
    access: { can: 'administer' },
    effect: 'destructive',
    http: { method: 'DELETE', path: `${path}/{artifact_id}`, tag },
    errors: ['NOT_FOUND'],
    audit: (input) => ({ [key]: idIn(input), artifact_id: input.artifact_id }),
    handle: async (context: Context<ArtifactNeeds>, input) => {
      const id = idIn(input);
      await check(context.trx, context, id);
      const { numDeletedRows } = await context.trx
        .deleteFrom('node_artifacts')
        .where('id', '=', input.artifact_id)
        .where('artifact_type', '=', word)
        .where('ref_id', '=', id)
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw unknownArtifact(input.artifact_id);
      return {
        ok: true as const,
        deleted: true as const,
        [key]: id,
        artifact_id: input.artifact_id,
        ...traceOf(context),
      };
    },
  });
  return [list, get, remove] as AnyOperation[];
}

export const entityOperations = ENTITIES.flatMap(operationsFor);
