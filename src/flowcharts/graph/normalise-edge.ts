import type { EdgeMode } from '../../database/index.ts';
import type { Issue } from '../../kernel/errors.ts';
import type { DraftEdge } from './draft.ts';
import { type Fields, fieldsOf, isObject } from './fields.ts';
import { MAX_CONDITION_KEY, MAX_CONTROL_POINTS, MAX_HANDLE, MAX_LABEL } from './limits.ts';
import { clientId } from './normalise-node.ts';

export const EDGE_MODES: readonly EdgeMode[] = ['solid', 'dotted', 'dashed'];

const HANDLE = /^[a-z][0-9]+$/;
const KNOWN = new Set(
  'id client_id source source_node_id target target_node_id source_handle_id target_handle_id edge_mode condition_key label control_points control_point_style flowchart_id created_at updated_at'.split(
    ' ',
  ),
);

/** One connector of a sent graph; `find` tells which node an id or client id means. */
export function normaliseEdge(
  raw: unknown,
  at: string,
  find: (token: string) => number | undefined,
  issues: Issue[],
): DraftEdge | null {
  if (!isObject(raw)) {
    issues.push({ code: 'edge_invalid', message: 'must be an object', path: at });
    return null;
  }
  const fields = fieldsOf(raw, at, issues);
  fields.refuseOthers(KNOWN);
  return {
    id: fields.id('id'),
    client_id: clientId(fields),
    source: endpoint(fields, 'source', find),
    target: endpoint(fields, 'target', find),
    source_handle_id: handle(fields, 'source_handle_id'),
    target_handle_id: handle(fields, 'target_handle_id'),
    edge_mode: mode(fields),
    condition_key: fields.line('condition_key', MAX_CONDITION_KEY),
    label: fields.line('label', MAX_LABEL),
    control_points: controlPoints(fields),
    control_point_style: style(fields),
  };
}

function endpoint(fields: Fields, side: 'source' | 'target', find: (token: string) => number | undefined): number {
  const key = fields.has(`${side}_node_id`) ? `${side}_node_id` : side;
  const token = fields.value(key);
  const isToken = typeof token === 'string' || typeof token === 'number';
  const place = isToken ? find(String(token).trim()) : undefined;
  if (place === undefined) {
    const says = isToken ? 'names no node of this graph' : 'must be the id or client_id of a node of this graph';
    fields.fault('edge_endpoint_invalid', key, says);
  }
  return place ?? 0;
}

function handle(fields: Fields, key: string): string | null {
  const value = fields.value(key);
  if (value === undefined || value === null || value === '') return null;
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (text.length <= MAX_HANDLE && HANDLE.test(text)) return text;
  fields.fault('handle_invalid', key, 'must be a letter and digits, such as r2');
  return null;
}

function mode(fields: Fields): EdgeMode {
  const value = fields.value('edge_mode');
  if (value === undefined || value === null || value === '') {
    fields.fault('edge_mode_required', 'edge_mode', 'is missing: say solid, dotted or dashed');
  } else if (!EDGE_MODES.includes(value as EdgeMode)) {
    fields.fault('edge_mode_invalid', 'edge_mode', 'must be solid, dotted or dashed');
  } else {
    return value as EdgeMode;
  }
  return 'solid';
}

/** Two decimals are more than a screen shows; the first points are kept when there are too many. */
function controlPoints(fields: Fields): { x: number; y: number }[] {
  const value = fields.value('control_points');
  if (value === undefined || value === null) return [];
  const isPoint = (point: unknown): point is { x: number; y: number } =>
    isObject(point) && Number.isFinite(point.x) && Number.isFinite(point.y);
  if (!Array.isArray(value)) {
    fields.fault('control_points_invalid', 'control_points', 'must be a list of {x, y}');
    return [];
  }
  const points = value.slice(0, MAX_CONTROL_POINTS);
  for (const [at, point] of points.entries()) {
    if (!isPoint(point)) fields.fault('control_points_invalid', `control_points/${at}`, 'must have numbers x and y');
  }
  return points.filter(isPoint).map(({ x, y }) => ({ x: rounded(x), y: rounded(y) }));
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100 + 0;
}

function style(fields: Fields): 'hard' | 'curved' {
  const value = fields.value('control_point_style');
  if (value === undefined || value === null || value === '' || value === 'hard') return 'hard';
  if (value === 'curved') return 'curved';
  fields.fault('control_points_invalid', 'control_point_style', 'must be hard or curved');
  return 'hard';
}
