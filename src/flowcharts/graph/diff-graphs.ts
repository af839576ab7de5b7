import { stableStringify } from '../../kernel/canonical-json.ts';
import type { Graph } from './model.ts';

export interface ItemChange {
  id: number;
  /** Names of the fields that differ; those of a config as `config.key`. */
  fields: string[];
}

export interface GraphDiff {
  nodes: { added: number[]; removed: number[]; changed: ItemChange[] };
  edges: { added: number[]; removed: number[]; changed: ItemChange[] };
}

/** How one version of a graph became another. Ids are stable, so nothing has to be guessed. */
export function diffGraphs(from: Graph, to: Graph): GraphDiff {
  return { nodes: diffItems(from.nodes, to.nodes), edges: diffItems(from.edges, to.edges) };
}

function diffItems<T extends { id: number }>(from: readonly T[], to: readonly T[]): GraphDiff['nodes'] {
  const before = new Map(from.map((item) => [item.id, item]));
  const after = new Set(to.map(({ id }) => id));
  const changed = to.flatMap((item) => {
    const old = before.get(item.id);
    const fields = old ? changedFields(old, item) : [];
    return fields.length > 0 ? [{ id: item.id, fields }] : [];
  });
  return {
    added: to.map(({ id }) => id).filter((id) => !before.has(id)),
    removed: from.map(({ id }) => id).filter((id) => !after.has(id)),
    changed,
  };
}

function changedFields(from: object, to: object): string[] {
  return differing(from, to).flatMap((key) => {
    if (key !== 'config') return [key];
    return differing(at(from, key) as object, at(to, key) as object).map((inner) => `config.${inner}`);
  });
}

function differing(from: object, to: object): string[] {
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].sort();
  // A key that is null and one that is missing have the same text, so presence is compared too.
  const isSame = (key: string) =>
    Object.hasOwn(from, key) === Object.hasOwn(to, key) &&
    stableStringify(at(from, key)) === stableStringify(at(to, key));
  return keys.filter((key) => !isSame(key));
}

function at(record: object, key: string): unknown {
  return Object.hasOwn(record, key) ? (record as Record<string, unknown>)[key] : undefined;
}
