import assert from 'node:assert/strict';
import { needsSpeeds, placeNodes, type ForcedPlacements, type NodeSpeed } from '../../graph/placement.js';
import type { NodeKind, Plan } from '../../graph/plan.js';

const QUICK: NodeSpeed = { executions: 20, failures: 0, p95Ms: 40 };

function planOf(kinds: NodeKind[]): Plan {
  const ids = kinds.map((_, node) => `n${node}`);
  return { ids, kinds, labels: ids, out: kinds.map(() => []), indegree: kinds.map(() => 0) };
}

function place(
  kind: NodeKind,
  data: Record<string, unknown>,
  speed?: NodeSpeed,
  forced: ForcedPlacements = {},
): string {
  return placeNodes({ plan: planOf([kind]), dataOf: () => data, forced }, () => speed);
}

describe('node placement', () => {
  it('a node that has been quick of late is placed locally', () => {
    assert.equal(place('http', { method: 'GET' }, QUICK), '1');
    assert.equal(place('http', {}, QUICK), '1', 'GET is the default');
    assert.equal(place('mcp', { settings: { retry_unsafe: true } }, QUICK), '1');
  });

  it('a node that is unknown, slow, or has failed of late is a normal activity', () => {
    const speeds: [string, NodeSpeed | undefined][] = [
      ['unknown', undefined],
      ['too few executions', { ...QUICK, executions: 9 }],
      ['slow', { ...QUICK, p95Ms: 300 }],
      ['a failure', { ...QUICK, failures: 1 }],
    ];
    for (const [why, speed] of speeds) assert.equal(place('http', {}, speed), '0', why);
  });

  it('a call that costs money or must not be made twice is never tried locally, whatever an operator says', () => {
    const nodes: [NodeKind, Record<string, unknown>][] = [
      ['http', { method: 'post' }],
      ['http', { method: 'PATCH' }],
      ['http', { method: '{{ input.method }}' }],
      ['http', { method: 7 }],
      ['mcp', {}],
      ['mcp', { settings: { retry_unsafe: 'true' } }],
      ['llm', { settings: { model_name: 'm' } }],
      ['agent', {}],
      ['trigger', {}],
      ['condition', {}],
    ];
    for (const [kind, data] of nodes) {
      assert.equal(place(kind, data, QUICK, { [kind]: 'local' }), '0', `${kind} ${JSON.stringify(data)}`);
    }
  });

  it('a drawer who allows repeats allows local tries', () => {
    assert.equal(place('http', { method: 'POST', settings: { retry_unsafe: true } }, QUICK), '1');
  });

  it("an operator's word goes before the speed, for its kind alone", () => {
    assert.equal(place('http', {}, QUICK, { http: 'normal' }), '0');
    assert.equal(place('http', {}, undefined, { http: 'local' }), '1');
    assert.equal(place('http', {}, undefined, { mcp: 'local' }), '0');
  });

  it('speeds are looked up only where a placement depends on them', () => {
    const dataOf = () => ({});
    assert.equal(needsSpeeds({ plan: planOf(['trigger', 'llm', 'agent', 'mcp']), dataOf, forced: {} }), false);
    assert.equal(needsSpeeds({ plan: planOf(['trigger', 'http']), dataOf, forced: {} }), true);
    assert.equal(needsSpeeds({ plan: planOf(['trigger', 'http']), dataOf, forced: { http: 'local' } }), false);
  });

  it('the placement has a character for each node, in the order of the plan', () => {
    const plan = planOf(['trigger', 'http', 'llm', 'http']);
    const placement = placeNodes({ plan, dataOf: () => ({}), forced: {} }, (id) => (id === 'n3' ? QUICK : undefined));
    assert.equal(placement, '0001');
  });
});
