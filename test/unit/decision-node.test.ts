import { describe, expect, it } from 'vitest';
import { decisionNode } from '../../src/flowcharts/nodes/decision/index.ts';
import { NodeFailure, type Outcome } from '../../src/flowcharts/nodes/node-type.ts';
import { entry, executionOf, graphNode } from '../support/node-execution.ts';

const score = 'latest_upstream.output_state.structured_output.score';
const upstream = entry({ output_state: { structured_output: { route_key: 'approve', score: 7 } } });

async function decide(conditions: Record<string, string>): Promise<Outcome> {
  const decision_conditions = Object.entries(conditions).map(([connector_id, condition_text]) => ({
    connector_id,
    condition_text,
  }));
  const node = graphNode('decision', { decision_conditions });
  const result = await decisionNode.execute(executionOf(node, { upstream: [upstream] }));
  return (result as { done: Outcome }).done;
}

describe('a decision', () => {
  it('[FLR-decision-all-evaluated] [S004-decision-evaluations] evaluates every condition and takes the first match as route', async () => {
    const { output_state, routing_state } = await decide({
      left: 'reject',
      middle: `${score} == 7`,
      right: `${score} > 3`,
      blank: '',
    });
    expect(output_state).toEqual({
      matched_connector_ids: ['middle', 'right'],
      evaluations: [
        { connector_id: 'left', condition_text: 'reject', matched: false, reason: 'the route key is "approve"' },
        { connector_id: 'middle', condition_text: `${score} == 7`, matched: true, reason: `${score} is 7` },
        { connector_id: 'right', condition_text: `${score} > 3`, matched: true, reason: 'the expression is true' },
        { connector_id: 'blank', condition_text: '', matched: false, reason: 'the condition is blank' },
      ],
      no_match: false,
      resolved_route_key: 'middle',
      resolved_route_path: score,
    });
    expect(routing_state).toEqual({
      matched_connector_ids: ['middle', 'right'],
      evaluations: output_state.evaluations,
      no_match: false,
      route_key: 'middle',
    });
  });

  it('[S004-decision-payload] leaves the payload of the contract, with and without a match', async () => {
    for (const text of ['approve', 'reject']) {
      const outcome = await decide({ only: text });
      const payload = decisionNode.artifactPayload?.(outcome) ?? {};
      expect(Object.keys(payload).sort()).toEqual([
        'evaluations',
        'matched_connector_ids',
        'no_match',
        'resolved_route_key',
        'resolved_route_path',
        'routing_state',
      ]);
      expect(payload).toMatchObject(
        text === 'approve'
          ? { matched_connector_ids: ['only'], no_match: false, resolved_route_key: 'only' }
          : { matched_connector_ids: [], no_match: true, resolved_route_key: null, resolved_route_path: null },
      );
      expect(payload.routing_state).toEqual(outcome.routing_state);
      expect(Object.hasOwn(outcome.routing_state, 'route_key')).toBe(text === 'approve');
    }
  });

  it('[FLR-decision-failed] fails when a condition cannot be evaluated and no other matches', async () => {
    const failing = {
      missing: 'latest_upstream.output_state.structured_output.nothing > 3',
      zero: `10 / (${score} - 7) > 1`,
      number: `(${score})`,
    };
    const thrown = await decide({ ...failing, left: 'reject' }).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ name: 'NodeFailure', code: 'condition_failed' });
    const { message } = thrown as NodeFailure;
    expect(message).toContain('missing (the expression failed: No such key: nothing)');
    expect(message).toContain('zero (the expression failed: division by zero)');
    expect(message).toContain('number (the expression gives a number, not true or false)');
    expect(message).not.toContain('left');
    const late = await decide({ slow: `"${'a'.repeat(60)}b".matches("^(a+)+$")` }).catch((error: unknown) => error);
    expect(late).toMatchObject({
      code: 'condition_failed',
      message: expect.stringMatching(/slow .*longer than \d+ ms/),
    });
  });

  it('[FLR-decision-failed] goes on degraded when another condition matches, and says why', async () => {
    const outcome = await decide({ bad: `1 / (${score} - 7) > 0`, good: 'approve' });
    expect(outcome).toMatchObject({
      degraded_reason: 'condition_error',
      output_state: {
        matched_connector_ids: ['good'],
        evaluations: [
          { connector_id: 'bad', matched: false, reason: expect.stringContaining('division by zero') },
          { connector_id: 'good', matched: true },
        ],
      },
    });
  });

  it('[FLR-decision-failed] a missing path of the simple form is plainly false', async () => {
    const outcome = await decide({ a: 'latest_upstream.nothing == x', b: 'latest_upstream.nothing' });
    expect(outcome.output_state).toMatchObject({ no_match: true });
    expect(outcome).not.toHaveProperty('degraded_reason');
  });

  it('[FLR-decision-invalid] fails with a code when a condition cannot be read, and when there is none', async () => {
    const codeOf = async (conditions: Record<string, string>) => {
      const thrown = await decide(conditions).catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(NodeFailure);
      return (thrown as NodeFailure).code;
    };
    expect(await codeOf({ a: 'approve', b: 'urgent fix' })).toBe('condition_invalid');
    expect(await codeOf({})).toBe('decision_conditions_missing');
  });

  it('[FLR-decision-invalid] is unfit to run while a condition cannot be read', () => {
    const decision_conditions = [
      { connector_id: 'a', condition_text: 'approve' },
      { connector_id: 'b', condition_text: 'urgent fix' },
    ];
    expect(decisionNode.check?.(graphNode('decision', { decision_conditions }))).toMatchObject([
      { code: 'condition_invalid', path: '/config/decision_conditions/1/condition_text' },
    ]);
  });

  it('[S004-decision-no-mcp] binds no MCP server', () => {
    expect(decisionNode.binds).toEqual({ ref: 'none', mcp: false, attachments: true });
  });

  it('[FLR-decision-config] keeps one condition a connector and every key that is not its own', () => {
    const { config, issues } = decisionNode.normaliseConfig({
      fan_in_mode: 'any',
      fallback_condition_key: 'a',
      no_match_policy: 'fallback',
      route_field_path: 'x.y',
      request_id: 'r',
      decision_conditions: [
        { connector_id: ' a ', condition_text: ' approve ' },
        { connector_id: 'a', condition_text: 'second' },
        { connector_id: 'b' },
      ],
    });
    expect(issues).toEqual([]);
    expect(config).toEqual({
      fan_in_mode: 'any',
      fallback_condition_key: 'a',
      no_match_policy: 'fallback',
      request_id: 'r',
      decision_conditions: [
        { connector_id: 'a', condition_text: 'approve' },
        { connector_id: 'b', condition_text: '' },
      ],
    });
    const bad = decisionNode.normaliseConfig({
      decision_conditions: [null, { connector_id: '' }, { connector_id: 'a', condition_text: 7 }],
    });
    expect(bad.issues.map(({ code, path }) => [code, path])).toEqual([
      ['decision_conditions_invalid', '/decision_conditions/0/connector_id'],
      ['decision_conditions_invalid', '/decision_conditions/1/connector_id'],
      ['decision_conditions_invalid', '/decision_conditions/2/condition_text'],
    ]);
    expect(decisionNode.normaliseConfig({ decision_conditions: 'x' }).issues).toHaveLength(1);
    expect(decisionNode.migrateConfig?.({ route_field_path: 'x', no_match_policy: 'end' })).toEqual({
      no_match_policy: 'end',
      decision_conditions: [],
    });
  });
});
