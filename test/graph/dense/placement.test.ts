import assert from 'node:assert/strict';
import {
  needsSpeeds,
  placeNodes,
  type ForcedPlacements,
  type NodeSpeed,
  type Placement,
} from '../../../graph/dense/placement.js';
import type { Plan } from '../../../graph/plan.js';
import { kinds, type NodeKind } from '../../../graph/kinds.js';

const QUICK: NodeSpeed = { executions: 20, failures: 0, p95Ms: 40 };

function planOf(of: NodeKind[]): Plan {
  const ids = of.map((_, node) => `n${node}`);
  return { ids, kinds: of, labels: ids, out: of.map(() => []), indegree: of.map(() => 0) };
}

function place(
  kind: NodeKind,
  data: Record<string, unknown>,
  speed?: NodeSpeed,
  forced: ForcedPlacements = {},
): Placement {
  return placeNodes({ plan: planOf([kind]), dataOf: () => data, forced }, () => speed)[0]!;
}

describe('node placement of dense execution', () => {
  it('places a node locally that has been quick of late', () => {
    assert.equal(place('http', { method: 'GET' }, QUICK), 'local');
    assert.equal(place('http', {}, QUICK), 'local', 'GET is the default');
    for (const method of ['HEAD', 'options']) assert.equal(place('http', { method }, QUICK), 'local', method);
  });

  it('lets a node that is unknown, or has failed of late, share an activity; a slow one has its own', () => {
    const speeds: [string, NodeSpeed | undefined, Placement][] = [
      ['unknown', undefined, 'shared'],
      ['too few executions', { ...QUICK, executions: 9 }, 'shared'],
      ['too few to be slow', { executions: 9, failures: 0, p95Ms: 900 }, 'shared'],
      ['a failure', { ...QUICK, failures: 1 }, 'shared'],
      ['slow', { ...QUICK, p95Ms: 300 }, 'own'],
    ];
    for (const [why, speed, placed] of speeds) assert.equal(place('http', {}, speed), placed, why);
    assert.equal(place('http', { method: 'POST' }, { ...QUICK, p95Ms: 300 }), 'own', 'whatever it does');
  });

  it('never attempts locally what changes something, costs money or must not be made twice, whatever an operator says', () => {
    const nodes: [NodeKind, Record<string, unknown>][] = [
      ['http', { method: 'post' }],
      ['http', { method: 'PATCH' }],
      ['http', { method: 'PUT' }],
      ['http', { method: 'DELETE' }],
      ['http', { method: 'POST', settings: { retry_unsafe: true } }],
      ['http', { method: '{{ input.method }}' }],
      ['http', { method: 7 }],
      ['mcp', {}],
      ['mcp', { settings: { retry_unsafe: true } }],
      ['llm', { settings: { model_name: 'm' } }],
      ['agent', {}],
      ['trigger', {}],
      ['condition', {}],
    ];
    for (const [kind, data] of nodes) {
      const placed = place(kind, data, QUICK, { [kind]: 'local' });
      assert.equal(placed, kinds[kind].isDense ? 'shared' : 'own', `${kind} ${JSON.stringify(data)}`);
    }
  });

  it("puts an operator's word before the speed, for its kind alone", () => {
    assert.equal(place('http', {}, QUICK, { http: 'shared' }), 'shared');
    assert.equal(place('http', {}, { ...QUICK, p95Ms: 300 }, { http: 'shared' }), 'shared');
    assert.equal(place('http', {}, QUICK, { http: 'own' }), 'own');
    assert.equal(place('http', {}, undefined, { http: 'local' }), 'local');
    assert.equal(place('http', {}, undefined, { mcp: 'local' }), 'shared');
  });

  it('looks speeds up only where a placement depends on them', () => {
    assert.equal(needsSpeeds(planOf(['trigger', 'condition', 'llm', 'agent']), {}), false);
    assert.equal(needsSpeeds(planOf(['trigger', 'http']), {}), true);
    assert.equal(needsSpeeds(planOf(['trigger', 'http']), { http: 'local' }), false);
    assert.equal(needsSpeeds(planOf(['http', 'mcp']), { http: 'local' }), true);
  });

  it('has a placement for each node, in the order of the plan', () => {
    const plan = planOf(['trigger', 'http', 'llm', 'http']);
    const placements = placeNodes({ plan, dataOf: () => ({}), forced: {} }, (id) => (id === 'n3' ? QUICK : undefined));
    assert.deepEqual(placements, ['own', 'shared', 'own', 'local']);
  });
});
