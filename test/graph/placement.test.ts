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

  it('a node that is unknown, or has failed of late, is in a normal activity that others may share; a slow one has its own', () => {
    const speeds: [string, NodeSpeed | undefined, string][] = [
      ['unknown', undefined, '2'],
      ['too few executions', { ...QUICK, executions: 9 }, '2'],
      ['too few to be slow', { executions: 9, failures: 0, p95Ms: 900 }, '2'],
      ['a failure', { ...QUICK, failures: 1 }, '2'],
      ['slow', { ...QUICK, p95Ms: 300 }, '0'],
    ];
    for (const [why, speed, placed] of speeds) assert.equal(place('http', {}, speed), placed, why);
    assert.equal(place('http', { method: 'POST' }, { ...QUICK, p95Ms: 300 }), '0', 'whatever it does');
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
      const placed = place(kind, data, QUICK, { [kind]: 'local' });
      assert.equal(placed, ['http', 'mcp'].includes(kind) ? '2' : '0', `${kind} ${JSON.stringify(data)}`);
    }
  });

  it('a drawer who allows repeats allows local tries', () => {
    assert.equal(place('http', { method: 'POST', settings: { retry_unsafe: true } }, QUICK), '1');
  });

  it("an operator's word goes before the speed, for its kind alone", () => {
    assert.equal(place('http', {}, QUICK, { http: 'normal' }), '2');
    assert.equal(place('http', {}, { ...QUICK, p95Ms: 300 }, { http: 'normal' }), '2');
    assert.equal(place('http', {}, QUICK, { http: 'alone' }), '0');
    assert.equal(place('http', {}, undefined, { http: 'local' }), '1');
    assert.equal(place('http', {}, undefined, { mcp: 'local' }), '2');
  });

  it('speeds are looked up only where a placement depends on them', () => {
    assert.equal(needsSpeeds(planOf(['trigger', 'condition', 'llm', 'agent']), {}), false);
    assert.equal(needsSpeeds(planOf(['trigger', 'http']), {}), true);
    assert.equal(needsSpeeds(planOf(['trigger', 'http']), { http: 'local' }), false);
    assert.equal(needsSpeeds(planOf(['http', 'mcp']), { http: 'local' }), true);
  });

  it('the placement has a character for each node, in the order of the plan', () => {
    const plan = planOf(['trigger', 'http', 'llm', 'http']);
    const placement = placeNodes({ plan, dataOf: () => ({}), forced: {} }, (id) => (id === 'n3' ? QUICK : undefined));
    assert.equal(placement, '0201');
  });
});
