import { decisionNode } from './decision/index.ts';
import { endNode } from './end/index.ts';
import { flowchartNode } from './flowchart/index.ts';
import { memoryNode } from './memory/index.ts';
import { milestoneNode } from './milestone/index.ts';
import type { NodeType } from './node-type.ts';
import { planNode } from './plan/index.ts';
import { startNode } from './start/index.ts';
import { taskNode } from './task/index.ts';

const TYPES = [startNode, endNode, taskNode, flowchartNode, memoryNode, planNode, milestoneNode, decisionNode];

/** Every kind of node there is, by name. A new kind is a folder beside these and a line here. */
export const nodeTypes: ReadonlyMap<string, NodeType> = new Map(TYPES.map((type) => [type.name, type]));
