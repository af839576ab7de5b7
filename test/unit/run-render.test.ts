import { describe, expect, it } from 'vitest';
import type { NodeRunRow } from '../../src/artifacts/index.ts';
import { nodeName, nodeRunTable, runCard } from '../../src/flowcharts/history/render.ts';
import { flowchartRun, nodeRun, type RunRow } from '../../src/flowcharts/history/run-record.ts';

const AT = '2030-01-01T00:00:00.000Z';
const ROW = {
  id: 5,
  vault_id: 'default',
  flowchart_id: 3,
  graph_version: 2,
  status: 'completed',
  entry_node_id: null,
  input_json: null,
  output_node_run_id: null,
  error: null,
  error_code: null,
  warnings_json: '[]',
  trigger_source: 'replay',
  started_by: 'local',
  started_as: 'local',
  parent_run_id: null,
  parent_node_run_id: null,
  depth: 0,
  cycle: 1,
  follows_run_id: null,
  replayed_from_run_id: 4,
  replay_action: 'retry',
  max_node_executions: null,
  max_runtime_minutes: null,
  max_parallel_nodes: 8,
  executions: 1,
  completions: 1,
  active_ms: 0,
  owner: null,
  fence: 0,
  wakes: 0,
  request_id: null,
  correlation_id: null,
  created_at: AT,
  started_at: AT,
  finished_at: AT,
  updated_at: AT,
} as RunRow;
const NODE_ROW = {
  id: 30,
  flowchart_run_id: 5,
  flowchart_node_id: 16,
  node_type: 'start',
  sequence: 1,
  execution_index: 1,
  status: 'succeeded',
  started_order: 0,
  completed_order: 1,
  reused_from_id: 25,
  input_context_json: '{}',
  output_state_json: null,
  routing_state_json: null,
  degraded_reason: null,
  error: null,
  error_code: null,
  wait_json: null,
  answer_json: null,
  answered_by: null,
  answered_at: null,
  started_at: AT,
  finished_at: AT,
} as NodeRunRow;
const PARTS = {
  node_title: null,
  cycle_index: 1,
  sources: undefined,
  input_context: null,
  output_state: null,
  routing_state: null,
};

describe('a run for people', () => {
  it('says which run it repeats', () => {
    expect(runCard(flowchartRun(ROW), 'Release')).toContain('repeats run 4 (retry)');
    const first = flowchartRun({ ...ROW, replayed_from_run_id: null, replay_action: null });
    expect(runCard(first, 'Release').join('\n')).not.toContain('repeats');
  });

  it('marks node runs that took over what another made', () => {
    expect(nodeRunTable([nodeRun(NODE_ROW, PARTS)])).toContain('succeeded (reused from node run 25)');
    const degraded = nodeRun({ ...NODE_ROW, degraded_reason: 'llm_not_configured' }, PARTS);
    expect(nodeRunTable([degraded])).toContain('succeeded (llm_not_configured; reused from node run 25)');
  });

  it('calls a node without a title by its type and id', () => {
    expect(nodeName({ node_title: null, node_type: 'start', flowchart_node_id: 16 })).toBe('start 16');
    expect(nodeRunTable([nodeRun(NODE_ROW, PARTS)])).toContain('start 16');
    expect(nodeName({ node_title: 'Gate', node_type: 'task', flowchart_node_id: 1 })).toBe('Gate');
  });
});
