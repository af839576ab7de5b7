import { stableStringify } from '../kernel/canonical-json.ts';
import { fnv1a64Hex, sha256Hex } from '../kernel/hash.ts';
import { flowDefinitionForClient } from './client-view.ts';
import type { Flow, FlowStep } from './flow-schema.ts';

const PREFIX = 'flowst1_';

/** Stands for a flow that is not there. */
export const ABSENT_FLOW_STATE_ID = `${PREFIX}${fnv1a64Hex(new Uint8Array([0]))}`;

/** The token an edit is based on. Hashing a `flow get` answer gives the server's token. */
export function flowStateId(flow: Flow, steps: FlowStep[]): string {
  return PREFIX + fnv1a64Hex(stableStringify(flowDefinitionForClient(flow, steps)));
}

/** Beside the 64-bit token, whose collisions are easy to make on purpose: what the binding check compares. */
export function flowContentSha256(flow: Flow, steps: FlowStep[]): string {
  return sha256Hex(stableStringify(flowDefinitionForClient(flow, steps)));
}
