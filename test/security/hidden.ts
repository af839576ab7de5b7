import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FlowBundle } from '../../src/flows/index.ts';
import { sampleFlow } from '../support/flows.ts';
import { approve, type Inside, propose, proposeEdit } from './inside.ts';

/** Occurs in every text, id and path of what is hidden, and nowhere else. */
export const CANARY = /zqx/i;

type HighScope = 'project' | 'org';

/** Everything there is of flows in a scope above a viewer's, by what it is. */
export interface Hidden {
  flowId: string;
  movedId: string;
  retiredId: string;
  flowIds: string[];
  /** Proposals by the state they are in. */
  proposals: Record<string, string>;
  /** Mirrors, one that was edited and kept aside, and logs of approvals. */
  notes: Record<string, string>;
}

/** A flow with the canary in every text it has. */
export function canaryFlow(flowId: string, scope: FlowBundle['flow']['scope'], version: string): FlowBundle {
  const bundle = sampleFlow(flowId, {
    scope,
    version,
    title: `zqxtitle ${version}`,
    summary: 'zqxsummary',
    instruction: `zqxinstruction ${version}`,
    tags: ['zqxtag'],
  });
  bundle.flow.inputs = [{ name: 'zqxinput', type: 'text', required: false }];
  for (const step of bundle.steps) {
    Object.assign(step, {
      owned_job: 'zqxjob',
      trigger: 'zqxtrigger',
      when_not_to_run: 'zqxnot',
      output_shape: 'zqxshape',
    });
    step.boundaries = ['zqxboundary'];
    step.skill_refs = [{ kind: 'external_tool', id: 'zqxtool' }];
    step.verification.description = 'zqxproof';
  }
  return bundle;
}

/** Made by ann, decided by the owner; vera once proposed the flow that has since moved out of her sight. */
export async function hide(inside: Inside, home: string, scope: HighScope): Promise<Hidden> {
  const flowId = `flow_zqx_${scope}`;
  const path = `meta/flows/zqx-kept-${scope}.md`;
  const version = (number: string) => {
    const bundle = canaryFlow(flowId, scope, number);
    bundle.flow.vault_mirror_path = path;
    return bundle;
  };
  const why = { intent: 'zqxintent', external_ref: 'zqxref', idempotency_key: undefined };
  const first = await propose(inside, 'ann', version('1.0.0'), why);
  const { mirror_path, approval_log_path } = await approve(inside, 'local', first.proposal_id);
  writeFileSync(join(home, 'vaults', 'default', mirror_path), '---\ntype: flow\n---\nzqxbyhand\n');

  const discarded = await proposeEdit(inside, 'ann', version('1.1.0'), why);
  await inside.as('local', 'proposal.discard', { proposal_id: discarded.proposal_id, reason: 'zqxreason' });
  const conflicted = await proposeEdit(inside, 'ann', version('1.2.0'), why);
  const second = await proposeEdit(inside, 'ann', version('2.0.0'), why);
  await approve(inside, 'local', second.proposal_id);

  const open = await proposeEdit(inside, 'ann', version('3.0.0'), { ...why, idempotency_key: `zqxkey ${scope}` });
  await inside.as('local', 'proposal.comment', { proposal_id: open.proposal_id, body: 'zqxcomment' });
  await inside.as('local', 'proposal.evaluate', {
    proposal_id: open.proposal_id,
    outcome: 'needs_changes',
    comment: 'zqxevaluation',
  });
  const lowering = version('4.0.0');
  lowering.flow.scope = 'personal';
  const lowered = await proposeEdit(inside, 'ann', lowering, why);
  const retiring = await inside.as<{ proposal_id: string }>('ann', 'flow.retire', { flow_id: flowId, ...why });
  const fresh = await propose(inside, 'ann', canaryFlow(`flow_zqx_new_${scope}`, scope, '1.0.0'), why);
  const imported = await inside.as<{ proposal_id: string }>('ann', 'flow.import', {
    ...why,
    bundle: canaryFlow(`flow_zqx_import_${scope}`, scope, '1.0.0'),
    source_vault_hint: 'zqxhint',
  });

  const retiredId = `flow_zqx_gone_${scope}`;
  const gone = await propose(inside, 'ann', canaryFlow(retiredId, scope, '1.0.0'), why);
  await approve(inside, 'local', gone.proposal_id);
  const goodbye = await inside.as<{ proposal_id: string }>('ann', 'flow.retire', { flow_id: retiredId, ...why });
  await approve(inside, 'local', goodbye.proposal_id);

  const movedId = `flow_zqx_moved_${scope}`;
  const visible = await propose(inside, 'vera', canaryFlow(movedId, 'personal', '1.0.0'), why);
  const moved = await approve(inside, 'local', visible.proposal_id);
  const raised = await proposeEdit(inside, 'ann', canaryFlow(movedId, scope, '2.0.0'), why);
  await approve(inside, 'local', raised.proposal_id);

  const { notes } = await inside.as<{ notes: { path: string }[] }>('local', 'note.list', { prefix: 'meta/flows' });
  const aside = notes.find((note) => note.path.startsWith(`meta/flows/zqx-kept-${scope}.edited-`));
  return {
    flowId,
    movedId,
    retiredId,
    flowIds: [flowId, movedId, retiredId, `flow_zqx_new_${scope}`, `flow_zqx_import_${scope}`],
    proposals: {
      approved: first.proposal_id,
      'approved edit': second.proposal_id,
      discarded: discarded.proposal_id,
      conflicted: conflicted.proposal_id,
      open: open.proposal_id,
      'lowering the scope': lowered.proposal_id,
      retiring: retiring.proposal_id,
      new: fresh.proposal_id,
      imported: imported.proposal_id,
      'of a retired flow': gone.proposal_id,
      'that retired a flow': goodbye.proposal_id,
      'that raised the scope': raised.proposal_id,
      'once visible': visible.proposal_id,
    },
    notes: {
      mirror: mirror_path,
      'mirror of a flow that was visible': moved.mirror_path,
      'edited mirror, kept aside': aside?.path ?? 'none was kept aside',
      'log of an approval': approval_log_path,
      'log of an approval that was visible': moved.approval_log_path,
    },
  };
}
