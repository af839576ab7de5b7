import type { FlowEdge, FlowNode } from '../flow/model.ts';
import { NODE_WIDTH } from './build-node.ts';

const START = { x: 100, y: 100 };
const COLUMN = NODE_WIDTH + 100;
const GAP = 60;
const MARGIN = 150;
const USUAL_HEIGHT = 500;

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/**
 * Positions for new nodes: columns by depth, so that what gives stands left of what receives, and nothing lies on top of
 * anything. The block stands right of what is there; below it when a new node feeds an old one, whose left it needs.
 */
export function layOut(
  unplaced: readonly FlowNode[],
  others: readonly FlowNode[],
  edges: readonly FlowEdge[],
): Map<string, { x: number; y: number }> {
  const depth = depths(unplaced, edges);
  const box = boxOf(others);
  const origin = originOf(depth, others, edges, box);
  const heights = new Map<number, number>();
  const positions = new Map<string, { x: number; y: number }>();
  for (const node of unplaced) {
    const column = depth.get(node.id) ?? 0;
    const top = heights.get(column) ?? 0;
    positions.set(node.id, { x: origin.x + column * COLUMN, y: origin.y + top });
    heights.set(column, top + heightOf(node) + GAP);
  }
  return positions;
}

/** Longest way from a node that nothing new feeds; a circle, which is refused elsewhere, ends where it began. */
function depths(nodes: readonly FlowNode[], edges: readonly FlowEdge[]): Map<string, number> {
  const depth = new Map(nodes.map((node) => [node.id, 0]));
  const waiting = new Map(nodes.map((node) => [node.id, 0]));
  const targets = new Map<string, string[]>();
  for (const { source, target } of edges) {
    if (!depth.has(source) || !depth.has(target)) continue;
    waiting.set(target, (waiting.get(target) ?? 0) + 1);
    const held = targets.get(source);
    if (held) held.push(target);
    else targets.set(source, [target]);
  }
  const ready = nodes.map((node) => node.id).filter((id) => waiting.get(id) === 0);
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    for (const target of targets.get(id) ?? []) {
      depth.set(target, Math.max(depth.get(target) ?? 0, (depth.get(id) ?? 0) + 1));
      const left = (waiting.get(target) ?? 0) - 1;
      waiting.set(target, left);
      if (left === 0) ready.push(target);
    }
  }
  return depth;
}

function originOf(
  depth: ReadonlyMap<string, number>,
  others: readonly FlowNode[],
  edges: readonly FlowEdge[],
  box: Box | null,
): { x: number; y: number } {
  if (!box) return START;
  const places = new Map(others.map((node) => [node.id, positionOf(node)]));
  let left: number | null = null;
  for (const { source, target } of edges) {
    const column = depth.get(source);
    const place = places.get(target);
    if (column === undefined || !place) continue;
    const wanted = place.x - COLUMN * (column + 1);
    left = left === null ? wanted : Math.min(left, wanted);
  }
  return left === null ? { x: box.right + MARGIN, y: box.top } : { x: left, y: box.bottom + MARGIN };
}

function boxOf(nodes: readonly FlowNode[]): Box | null {
  let box: Box | null = null;
  for (const node of nodes) {
    // A node inside an iteration is placed relative to it.
    if (typeof node.parentNode === 'string') continue;
    const { x, y } = positionOf(node);
    const right = x + number(node.width, NODE_WIDTH);
    const bottom = y + heightOf(node);
    box = box
      ? {
          left: Math.min(box.left, x),
          top: Math.min(box.top, y),
          right: Math.max(box.right, right),
          bottom: Math.max(box.bottom, bottom),
        }
      : { left: x, top: y, right, bottom };
  }
  return box;
}

function positionOf(node: FlowNode): { x: number; y: number } {
  return { x: number(node.position?.x, 0), y: number(node.position?.y, 0) };
}

function heightOf(node: FlowNode): number {
  return number(node.height, USUAL_HEIGHT);
}

function number(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}
