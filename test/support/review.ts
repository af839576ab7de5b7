import type { FlowBundle } from '../../src/flows/index.ts';
import { sampleFlow } from './flows.ts';
import { type Asker, type Body, done } from './in-process-hub.ts';

/** Every item of the rubric that comes with the program. */
export const WHOLE_RUBRIC = ['accurate', 'no_secrets', 'matches_intent', 'pii', 'tone'];
export const PASS = { outcome: 'pass', checklist: WHOLE_RUBRIC };

/** Proposes a new flow; its envelope. */
export function proposeNew(
  asker: Asker,
  flowId: string,
  options: Parameters<typeof sampleFlow>[1] = {},
): Promise<Body> {
  return done(asker.post('/api/v1/flows', { ...sampleFlow(flowId, options), intent: `Add ${flowId}` }));
}

/** What an edit of the flow as it is now has to say about its base. */
export async function baseOf(asker: Asker, flowId: string): Promise<{ base_version: string; base_state_id: string }> {
  const { versions } = await done(asker.get(`/api/v1/flows/${flowId}/versions`));
  return { base_version: versions[0].version, base_state_id: versions[0].state_id };
}

/** An edit of the flow as it is now, ready to be sent. */
export async function editOf(
  asker: Asker,
  flowId: string,
  change: Partial<FlowBundle['flow']>,
): Promise<Record<string, unknown>> {
  const { flow, steps } = await done(asker.get(`/api/v1/flows/${flowId}`));
  return { flow: { ...flow, ...change }, steps, intent: `Change ${flowId}`, ...(await baseOf(asker, flowId)) };
}

/** Proposes an edit of the flow as it is now; its envelope. */
export async function proposeEdit(asker: Asker, flowId: string, change: Partial<FlowBundle['flow']>): Promise<Body> {
  return done(asker.post(`/api/v1/flows/${flowId}/proposals`, await editOf(asker, flowId, change)));
}

/** Proposes a note; its record. */
export function proposeNote(asker: Asker, path: string, more: Record<string, unknown> = {}): Promise<Body> {
  return done(asker.post('/api/v1/proposals', { path, body: `# ${path}`, intent: `Write ${path}`, ...more }));
}

export const at = (id: string, act = '') => `/api/v1/proposals/${id}${act ? `/${act}` : ''}`;
