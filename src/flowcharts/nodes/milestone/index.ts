import { loadMilestone, lockMilestone, type Milestone, saveMilestone } from '../../../milestones/index.ts';
import { type NodeExecution, NodeFailure, type NodeResult, type NodeType } from '../node-type.ts';
import { applyMilestone } from './apply.ts';
import { normaliseMilestoneConfig, readMilestoneConfig } from './config.ts';
import { MILESTONE_INSPECTOR } from './inspector.ts';
import { milestoneArtifact, milestoneOutcome } from './outcome.ts';

/** Moves a milestone on, and may end the run: at a checkpoint, after so many rounds, or once it is reached. */
export const milestoneNode: NodeType = {
  name: 'milestone',
  binds: { ref: 'auto', mcp: true, attachments: true },
  normaliseConfig: normaliseMilestoneConfig,
  inspector: MILESTONE_INSPECTOR,
  execute,
  artifactPayload: milestoneArtifact,
};

async function execute(execution: NodeExecution): Promise<NodeResult> {
  const { services, vault_id, node, execution_index, input } = execution;
  const { database, clock } = services;
  const config = readMilestoneConfig(node.config);
  const id = node.ref_id;
  const seen = id === null ? null : await loadMilestone(database.queries, vault_id, id);
  // Tried on a copy first: what cannot be done should fail before a transaction is begun for it.
  const { id: milestoneId } = applyMilestone(present(seen, id), config, input).after;
  return {
    commit: async (trx) => {
      const before = present(await lockMilestone(trx, database.dialect, vault_id, milestoneId), id);
      const { after, action_results } = applyMilestone(before, config, input);
      const change = { vault_id, before, after, now: clock.now().toISOString() };
      const saved = await saveMilestone(trx, database.dialect, change);
      return milestoneOutcome(config, execution_index, { before, after: saved, action_results });
    },
  };
}

function present(milestone: Milestone | null, id: number | null): Milestone {
  if (milestone) return milestone;
  const what = id === null ? 'The node has no milestone' : `There is no milestone ${id} any more`;
  throw new NodeFailure('ref_missing', `${what}. Save the flowchart again, so that the node gets one.`);
}
