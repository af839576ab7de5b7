import * as z from 'zod';
import { FlowIdSchema, FlowSchema, FlowStepSchema, VersionSchema } from '../flows/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Context, defineOperation } from '../operations/index.ts';
import { ExternalRef, IdempotencyKey } from '../proposals/index.ts';
import type { LooseRequest } from './draft.ts';
import { FlowProposal, type FlowProposalView, proposedLine } from './flow-proposal.ts';
import { mirrorOperations } from './mirror-operations.ts';
import { type ProposeNeeds, prepareImport, prepareProposal, prepareRetirement } from './propose.ts';
import { recordProposal } from './record-proposal.ts';

type Needs = ProposeNeeds & { clock: Clock };

const tag = 'Flows';

const intent = z.string().describe('Why; recorded as it is, never obeyed');
const external_ref = ExternalRef.optional();
const idempotency_key = IdempotencyKey.optional();
const flow = FlowSchema.describe('The whole flow as it should be');
const steps = z.array(FlowStepSchema).describe('All its steps, in order');
/** Checked by the handler, which reports every mistake with its place and in the order of the contract. */
const anything = z.looseObject({});

const errors = [
  'FLOW_AUTHORING_DISABLED',
  'FLOW_AUTHORING_POLICY_FORBIDDEN',
  'FLOW_SCOPE_AMBIGUOUS',
  'FLOW_LINEAGE_CONFLICT',
  'CONFLICT',
] as const;

const audit = (_input: unknown, { proposal_id, flow_id, base_version }: FlowProposalView) => ({
  proposal_id,
  flow_id,
  base_version,
});

const propose = defineOperation({
  name: 'flow.propose',
  summary: 'Propose a new flow, or an edit of one',
  description:
    'Hands in a flow for review; nothing changes until a person approves it. For an edit send base_version and base_state_id as flow_versions gives them, and a version that is greater.',
  input: anything,
  documentedInput: z.strictObject({
    flow,
    steps,
    intent,
    flow_id: FlowIdSchema.optional().describe('The flow to edit; must be the one in flow'),
    base_version: VersionSchema.optional().describe('Version the edit is based on; left out for a new flow'),
    base_state_id: z.string().optional().describe('State id of that version; left out for a new flow'),
    external_ref,
    idempotency_key,
  }),
  output: FlowProposal,
  access: { can: 'read' },
  effect: 'write',
  http: [
    { method: 'POST', path: '/api/v1/flows', status: 201, tag },
    { method: 'POST', path: '/api/v1/flows/{id}/proposals', rename: { id: 'flow_id' }, status: 201, tag },
  ],
  mcp: { tool: 'flow_propose' },
  cli: { command: 'flow propose <file>', byHand: true, render: (payload) => proposedLine(payload) },
  errors: [...errors, 'FLOW_DRAFT_INVALID', 'FLOW_SCOPE_DENIED', 'unknown_flow'],
  audit,
  prepare: (context: Context<Needs>, request) => prepareProposal(context, request as LooseRequest),
  handle: recordProposal,
});

const importBundle = defineOperation({
  name: 'flow.import',
  summary: 'Propose a flow from a portable bundle',
  description: 'Hands in what flow_export wrote, for review. External tools it names stay inert.',
  input: anything,
  documentedInput: z.strictObject({
    bundle: z.strictObject({ schema: z.string().optional(), flow, steps }).describe('As flow_export writes it'),
    intent,
    external_ref,
    source_vault_hint: z.string().max(128).optional().describe('Where it comes from; a label, nothing is looked up'),
    idempotency_key,
  }),
  output: FlowProposal,
  access: { can: 'read' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/flows/import', status: 201, tag },
  mcp: { tool: 'flow_import' },
  cli: { command: 'flow import <file>', byHand: true, render: (payload) => proposedLine(payload) },
  errors: [
    ...errors,
    'FLOW_IMPORT_BUNDLE_MALFORMED',
    'FLOW_IMPORT_SCOPE_DENIED',
    'FLOW_IMPORT_EXTERNAL_TOOL_DENIED',
    'FLOW_IMPORT_AUTOMATABLE_DENIED',
    'FLOW_DRAFT_INVALID',
  ],
  audit,
  prepare: (context: Context<Needs>, request) => prepareImport(context, request as LooseRequest),
  handle: recordProposal,
});

const retire = defineOperation({
  name: 'flow.retire',
  summary: 'Propose to take a flow out of use',
  description: 'Once approved, the flow is no longer shown and its id stays taken; admins can still pin old versions.',
  input: z.strictObject({
    flow_id: FlowIdSchema,
    intent: z.string().default('').describe('Why (required)'),
    base_version: VersionSchema.optional().describe('Version you read; the present one when left out'),
    base_state_id: z.string().max(64).optional().describe('State id of that version'),
    external_ref,
    idempotency_key,
  }),
  output: FlowProposal,
  access: { can: 'read' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/flows/{id}/retire', rename: { id: 'flow_id' }, status: 201, tag },
  mcp: { tool: 'flow_retire' },
  cli: {
    command: 'flow retire <flow_id>',
    examples: ['flowright flow retire flow_old_way --intent "Replaced by flow_new_way"'],
    render: (payload) => proposedLine(payload, true),
  },
  errors: [...errors, 'FLOW_DRAFT_INVALID', 'FLOW_SCOPE_DENIED', 'unknown_flow'],
  audit,
  prepare: (context: Context<Needs>, request) => prepareRetirement(context, request),
  handle: recordProposal,
});

const exportBundle = defineOperation({
  name: 'flow.export',
  summary: 'Write a flow as a portable bundle',
  description: 'The flow and its steps as flow_import takes them, in any vault of any hub.',
  input: z.strictObject({
    flow_id: FlowIdSchema,
    version: VersionSchema.optional().describe('A version to pin; the latest when left out'),
  }),
  output: z
    .strictObject({
      schema: z.literal('flowright.flow_bundle/v1'),
      flow: FlowSchema,
      steps: z.array(FlowStepSchema),
    })
    .meta({ id: 'FlowBundleExport' }),
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/flows/{id}/export', rename: { id: 'flow_id' }, tag },
  mcp: { tool: 'flow_export' },
  cli: {
    command: 'flow export <flow_id>',
    examples: ['flowright flow export flow_capture_to_note > bundle.json'],
    render: (payload) => JSON.stringify(payload, null, 2),
  },
  errors: ['FLOW_SCOPE_AMBIGUOUS', 'unknown_flow'],
  handle: async ({ flows, principal }: Context<Needs>, input) => {
    const found = await flows.get(principal, input);
    return { schema: 'flowright.flow_bundle/v1' as const, flow: found.flow, steps: found.steps };
  },
});

export const operations = [propose, importBundle, retire, exportBundle, ...mirrorOperations];
