import assert from 'node:assert/strict';
import { findCredentialMoves, leaveMove, moveCredentials } from '../../graph/moved-credentials.js';
import { agent, drawing, http, mcp, trigger, type DrawingNode } from '../support/graphs.js';

const found = (...nodes: DrawingNode[]) => findCredentialMoves(drawing([trigger(), ...nodes]));
const ORIGIN = 'https://api.example.com';

describe('literal credentials that move into connections', () => {
  it('are those of a node and an origin together, and other headers stay', () => {
    const call = http(`${ORIGIN}/path/{{ input.id }}?q=1`, {
      headers: { 'X-Api-Key': 'one', Accept: 'text/plain', Authorization: 'Bearer two' },
    });
    const { moves, left } = found(call);
    const headers = [
      { name: 'X-Api-Key', value: 'one' },
      { name: 'Authorization', value: 'Bearer two' },
    ];
    assert.deepEqual(moves, [{ nodeId: call.id, owner: '', origin: ORIGIN, headers }]);
    assert.deepEqual(left, []);
    const moved = moveCredentials(
      drawing([trigger(), call]),
      moves.map((move) => ({ ...move, connection: 7 })),
    );
    const data = (moved['nodes'] as DrawingNode[])[1]!.data;
    assert.deepEqual([data['headers'], data['connection']], [{ Accept: 'text/plain' }, 7]);
  });

  it('are those of MCP nodes and of each MCP tool of an agent', () => {
    const headers = { apikey: 'secret' };
    const asking = agent('hello', {}, [{ endpoint_url: `${ORIGIN}/a` }, { endpoint_url: `${ORIGIN}/b`, headers }]);
    const calling = mcp(`${ORIGIN}/mcp`, 'echo', {}, { headers });
    const drawn = drawing([trigger(), asking, calling]);
    const { moves } = findCredentialMoves(drawn);
    assert.deepEqual(
      moves.map(({ nodeId, owner }) => [nodeId, owner]),
      [
        [asking.id, 'tools.1'],
        [calling.id, ''],
      ],
    );
    const moved = moveCredentials(
      drawn,
      moves.map((move, index) => ({ ...move, connection: index + 1 })),
    );
    assert.deepEqual(findCredentialMoves(moved), { moves: [], left: [] });
    const [, first] = moved['nodes'] as DrawingNode[];
    assert.deepEqual(
      (first!.data['tools'] as { connection?: number }[]).map(({ connection }) => connection),
      [undefined, 1],
    );
  });

  const many = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`X-Key-${index}`, 'v']));
  for (const [what, data, reason] of [
    ['a value with a variable', { headers: { Authorization: 'Bearer {{ input.token }}' } }, /variables/],
    ['a value with a variable and a literal', { headers: { 'X-Key': 'a{{ input.b }}' } }, /variables/],
    ['a value with braces that are no variable', { headers: { 'X-Key': 'a{{ ? }}' } }, /variables/],
    ['a node with a connection', { connection: 3, headers: { 'X-Key': 'v' } }, /connection already/],
    ['an origin with a variable', { url: 'https://{{ input.host }}/', headers: { 'X-Key': 'v' } }, /literal origin/],
    ['more headers than a connection holds', { headers: many }, /holds 5 headers/],
  ] as const) {
    it(`leave ${what} alone, and say why`, () => {
      const { moves, left } = found(http(ORIGIN, data));
      assert.deepEqual(moves, []);
      assert.ok(left.length > 0);
      for (const each of left) assert.match(each.reason, reason);
    });
  }

  it('leave alone what has no value, and nodes that share an id', () => {
    const call = http(ORIGIN, { headers: { 'X-Key': '********', 'X-Token': '' } });
    assert.deepEqual(found(call), { moves: [], left: [] });
    const twin = http(ORIGIN, { headers: { 'X-Key': 'v' } });
    const { moves, left } = found(twin, { ...twin });
    assert.deepEqual([moves.length, left.length], [0, 2]);
  });

  it('are told as places that stay', () => {
    const move = { nodeId: 'a', owner: 'tools.0', origin: ORIGIN, headers: [{ name: 'X-Key', value: 'v' }] };
    assert.deepEqual(leaveMove(move, 'Why.'), [{ nodeId: 'a', path: 'tools.0.headers.X-Key', reason: 'Why.' }]);
  });

  it('are none in drawings of any shape', () => {
    for (const odd of [
      {},
      { nodes: null },
      { nodes: [null, 1, { id: 1, data: [] }] },
      { nodes: [{ data: { headers: 1 } }] },
    ]) {
      assert.deepEqual(findCredentialMoves(odd as Record<string, unknown>), { moves: [], left: [] });
      assert.deepEqual(moveCredentials(odd as Record<string, unknown>, []), odd);
    }
  });
});
