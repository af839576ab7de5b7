import * as z from 'zod';
import { FlowIdSchema, type FlowLibrary, VersionSchema } from '../flows/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import { badRequest, ERRORS, refusal } from '../kernel/errors.ts';
import { type Context, defineOperation, issuesOf } from '../operations/index.ts';
import { contentHash, isProjectionStale } from './drift.ts';
import { type ActiveHarness, type Harness, isHarnessActive } from './harness.ts';
import { PROJECTION_GENERATOR_VERSION } from './marker.ts';
import { projectFlow } from './project-flow.ts';
import { FlowProjectResponse, type FlowProjectResult, HarnessSchema } from './projection-schema.ts';
import { skillNameOf } from './slug.ts';

interface Needs {
  flows: FlowLibrary;
  clock: Clock;
}

const version = VersionSchema.optional().describe('A version to pin; the latest when left out');
const fields = { flow_id: FlowIdSchema, harness: HarnessSchema };

export const projectOperation = defineOperation({
  name: 'flow.project',
  summary: 'Render a flow for a harness: rule, skill, runbook or prompt',
  description:
    'Renders a flow as text for another program: cursor_rule, cursor_skill (an Agent Skill), cli_runbook (AGENTS.md) or mcp_prompt. The text is derived and disposable; `fidelity` says what the format cannot hold. Nothing is written.',
  // The version is checked by the handler, because a harness that is not rendered is refused before it.
  input: z.strictObject({ ...fields, version: z.string().optional() }),
  documentedInput: z.strictObject({ ...fields, version }),
  output: FlowProjectResponse,
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/flows/{id}/projection', rename: { id: 'flow_id' }, tag: 'Flows' },
  mcp: { tool: 'flow_project' },
  errors: ['FLOW_HARNESS_UNSUPPORTED', 'FLOW_SCOPE_AMBIGUOUS', 'unknown_flow'],
  handle: async (context: Context<Needs>, input): Promise<FlowProjectResult> => {
    const { flow_id } = input;
    const harness = activeHarness(input.harness, flow_id);
    const pinned = z.object({ version }).safeParse({ version: input.version });
    if (!pinned.success) throw badRequest(issuesOf(pinned.error), 'flow.project');
    const { flow, steps, vault_id } = await context.flows.get(context.principal, { flow_id, version: input.version });
    const [latest_version = flow.version] = await context.flows.versionNumbers(context.principal, flow_id);
    const { rendered, fidelity } = projectFlow(flow, steps, harness);
    return {
      schema: 'knowtation.flow_project/v0',
      vault_id,
      projection: {
        schema: 'knowtation.flow_projection/v0',
        flow_id,
        flow_version: flow.version,
        harness,
        rendered,
        generated_from_canonical: true,
        editable: false,
        fidelity,
      },
      staleness: {
        stale: isProjectionStale(flow.version, latest_version),
        projection_version: flow.version,
        latest_version,
      },
      generator: {
        generator_version: PROJECTION_GENERATOR_VERSION,
        content_hash: contentHash(rendered),
        generated_at: isoNow(context.clock),
      },
    };
  },
});

/** Decided by the words alone, before anything is looked up, so that the answer tells nothing of what exists. */
function activeHarness(harness: Harness, flowId: string): ActiveHarness {
  if (!isHarnessActive(harness)) {
    throw refusal(
      'FLOW_HARNESS_UNSUPPORTED',
      `${harness} is not rendered in this version. ${ERRORS.FLOW_HARNESS_UNSUPPORTED.next}`,
    );
  }
  if (harness === 'cursor_skill' && skillNameOf(flowId) === null) {
    throw refusal(
      'FLOW_HARNESS_UNSUPPORTED',
      `${flowId} cannot be an Agent Skill: the name of a skill has single hyphens between letters and digits, and this id has a _ at an end or two in a row. Use cursor_rule, cli_runbook or mcp_prompt.`,
    );
  }
  return harness;
}

export const operations = [projectOperation];
