import { describe, expect, it } from 'vitest';
import { selectEdges } from '../../src/flowcharts/runtime/routing.ts';
import { graphEdge, graphNode } from '../support/run-rows.ts';

type Json = Record<string, unknown>;

const decision = (config: Json = {}) => ({ ...graphNode(7, 'decision'), config });
const task = graphNode(8, 'task');
const keyed = (...keys: (string | null)[]) =>
  keys.map((condition_key, at) => graphEdge(at + 1, 7, 20 + at, { condition_key }));

/** Ids of the connectors that are followed, or the code of the fault. */
function routed(...given: Parameters<typeof selectEdges>): number[] | string {
  const answer = selectEdges(...given);
  return 'fault' in answer ? answer.fault.code : answer.edges.map(({ id }) => id);
}

describe('[FLR-route-decision] a decision', () => {
  const solid = keyed('left', 'right', 'other');

  it('follows every connector that it matched, in the order of the connectors', () => {
    expect(routed(decision(), solid, { matched_connector_ids: ['other', ' left '], route_key: 'other' })).toEqual([
      1, 3,
    ]);
    expect(routed(decision(), keyed('left', 'left'), { matched_connector_ids: ['left'] })).toEqual([1, 2]);
  });

  it('fails on a connector that is none of its own, and on a route that it did not match', () => {
    expect(routed(decision(), solid, { matched_connector_ids: ['left', 'up'] })).toBe('unknown_connector');
    expect(routed(decision(), solid, { matched_connector_ids: ['left'], route_key: 'right' })).toBe(
      'route_key_not_matched',
    );
    expect(routed(decision(), solid, { matched_connector_ids: [], route_key: 'right' })).toBe('route_key_not_matched');
  });

  it('fails without a solid connector', () => {
    expect(routed(decision(), [], { matched_connector_ids: [] })).toBe('decision_no_solid_edges');
  });

  it('takes nothing but texts for matches', () => {
    const rubbish = { matched_connector_ids: [null, 3, {}, '', '  ', 'right'] };
    expect(routed(decision(), solid, rubbish)).toEqual([2]);
    expect(routed(decision(), solid, { matched_connector_ids: 'left' })).toBe('decision_no_match');
  });
});

describe('[FLR-route-no-match] a decision that matched nothing', () => {
  const none = { matched_connector_ids: [], no_match: true };
  const solid = keyed('left', 'other', 'other');

  it('follows its fallback, and of several connectors with that key the first alone', () => {
    const policy = { no_match_policy: 'fallback', fallback_condition_key: 'other' };
    expect(routed(decision(policy), solid, none)).toEqual([2]);
    expect(routed(decision({ fallback_condition_key: 'other' }), solid, none), 'without a policy').toEqual([2]);
  });

  it('fails when its policy says so, or when it has no fallback', () => {
    expect(routed(decision(), solid, none)).toBe('decision_no_match');
    expect(routed(decision({ no_match_policy: 'fail', fallback_condition_key: 'other' }), solid, none)).toBe(
      'decision_no_match',
    );
    expect(routed(decision({ no_match_policy: 'fallback', fallback_condition_key: '' }), solid, none)).toBe(
      'decision_no_match',
    );
  });

  it('ends the branch when its policy says so, whatever fallback it has', () => {
    expect(routed(decision({ no_match_policy: 'end', fallback_condition_key: 'other' }), solid, none)).toEqual([]);
  });

  it('fails on a fallback that is none of its connectors', () => {
    expect(routed(decision({ fallback_condition_key: 'gone' }), solid, none)).toBe('fallback_not_found');
  });
});

describe('[FLR-route-key] a node that is no decision', () => {
  it('follows every solid connector when none carries a key, whatever route it names', () => {
    expect(routed(task, keyed(null, null), {})).toEqual([1, 2]);
    expect(routed(task, keyed(null, null), { route_key: 'left' })).toEqual([1, 2]);
    expect(routed(task, [], { route_key: 'left' })).toEqual([]);
  });

  it('follows those with the key that it names, and no others', () => {
    expect(routed(task, keyed('left', null, 'right', 'left'), { route_key: ' left ' })).toEqual([1, 4]);
  });

  it('follows all when it names none', () => {
    expect(routed(task, keyed('left', null), {})).toEqual([1, 2]);
    expect(routed(task, keyed('left', null), { route_key: '  ' })).toEqual([1, 2]);
    expect(routed(task, keyed('left', null), { route_key: 5 })).toEqual([1, 2]);
  });

  it('fails when connectors carry keys and none is the one it names', () => {
    expect(routed(task, keyed('left', null), { route_key: 'up' })).toBe('route_key_unmatched');
  });
});
