import assert from 'node:assert/strict';
import { findCredentialMoves, leaveMove, moveCredentials } from '../../graph/moved-credentials.js';
import { agent, drawing, http, mcp, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';

const found = (...nodes: DrawingNode[]) => findCredentialMoves(drawing([trigger(), ...nodes]));
const ORIGIN = 'https://api.example.com';

describe('literal credentials that move into connections', () => {
  it('of one node move together into a connection for its origin, and other headers stay', () => {
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

  it('are the user name and password of an address, which a connection sends as a header', () => {
    const call = http(`https://us%3Fer:p%C3%A4:ss@api.example.com/path/{{ input.id }}`, {
      headers: { 'X-Key': 'one' },
    });
    const calling = mcp('https://token@api.example.com/mcp', 'echo');
    const asking = agent('hello', {}, [
      { endpoint_url: `${ORIGIN}/a` },
      { endpoint_url: 'https://a:b@api.example.com' },
    ]);
    const drawn = drawing([trigger(), call, calling, asking]);
    const { moves, left } = findCredentialMoves(drawn);
    const basic = (text: string) => ({
      name: 'Authorization',
      value: `Basic ${Buffer.from(text).toString('base64')}`,
    });
    const [address, server] = [{ address: 'url' }, { address: 'endpoint_url' }];
    const headers = [{ name: 'X-Key', value: 'one' }, basic('us?er:pä:ss')];
    assert.deepEqual(moves, [
      { nodeId: call.id, owner: '', origin: ORIGIN, headers, ...address },
      { nodeId: calling.id, owner: '', origin: ORIGIN, headers: [basic('token:')], ...server },
      { nodeId: asking.id, owner: 'tools.1', origin: ORIGIN, headers: [basic('a:b')], ...server },
    ]);
    assert.deepEqual(left, []);
    const moved = moveCredentials(
      drawn,
      moves.map((move, index) => ({ ...move, connection: index + 1 })),
    );
    assert.deepEqual(findCredentialMoves(moved), { moves: [], left: [] });
    const [, first, second, third] = (moved['nodes'] as DrawingNode[]).map(({ data }) => data);
    assert.deepEqual(
      [first!['url'], first!['headers'], first!['connection']],
      ['https://api.example.com/path/{{ input.id }}', {}, 1],
    );
    assert.deepEqual([second!['endpoint_url'], second!['connection']], [`${ORIGIN}/mcp`, 2]);
    const [untouched, tool] = third!['tools'] as Record<string, unknown>[];
    assert.deepEqual([tool!['endpoint_url'], tool!['connection']], [ORIGIN, 3]);
    assert.deepEqual([untouched!['endpoint_url'], untouched!['connection']], [`${ORIGIN}/a`, undefined]);
    assert.deepEqual(
      leaveMove(moves[0]!, 'Why.').map(({ path }) => path),
      ['headers.X-Key', 'url'],
    );
    assert.deepEqual(
      leaveMove(moves[2]!, 'Why.').map(({ path }) => path),
      ['tools.1.endpoint_url'],
    );
  });

  it('in an address are ignored if masked or one variable, left if they contain one or if a header replaces them', () => {
    const none = [http('https://********@api.example.com'), http('https://{{ input.both }}@api.example.com')];
    assert.deepEqual(found(...none), { moves: [], left: [] });
    const both = http('https://a:b@api.example.com', { headers: { authorization: 'Bearer one' } });
    const { moves, left } = found(both);
    assert.deepEqual(
      moves.map(({ headers, address }) => [headers, address]),
      [[[{ name: 'authorization', value: 'Bearer one' }], undefined]],
    );
    assert.deepEqual(
      left.map(({ path, reason }) => [path, reason]),
      [['url', 'The node has an Authorization header, which is what it sends.']],
    );
    const half = found(http('https://a:{{ input.b }}@api.example.com'));
    assert.deepEqual([half.moves, half.left.map(({ path }) => path)], [[], ['url']]);
    assert.match(half.left[0]!.reason, /variables/);
  });

  const many = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`X-Key-${index}`, 'v']));
  for (const [what, data, reason] of [
    ['a value with a variable', { headers: { Authorization: 'Bearer {{ input.token }}' } }, /variables/],
    ['a value with a variable and a literal', { headers: { 'X-Key': 'a{{ input.b }}' } }, /variables/],
    ['a value with braces that are no variable', { headers: { 'X-Key': 'a{{ ? }}' } }, /variables/],
    ['a node with a connection', { connection: 3, headers: { 'X-Key': 'v' } }, /connection already/],
    ['an origin with a variable', { url: 'https://{{ input.host }}/', headers: { 'X-Key': 'v' } }, /literal origin/],
    ['a node with more headers than a connection holds', { headers: many }, /holds 5 headers/],
  ] as const) {
    it(`are left in ${what}, with the reason`, () => {
      const { moves, left } = found(http(ORIGIN, data));
      assert.deepEqual(moves, []);
      assert.ok(left.length > 0);
      for (const each of left) assert.match(each.reason, reason);
    });
  }

  it('are not found in a masked or empty header, and are left in nodes that share an id', () => {
    const call = http(ORIGIN, { headers: { 'X-Key': '********', 'X-Token': '' } });
    assert.deepEqual(found(call), { moves: [], left: [] });
    const twin = http(ORIGIN, { headers: { 'X-Key': 'v' } });
    const { moves, left } = found(twin, { ...twin });
    assert.deepEqual([moves.length, left.length], [0, 2]);
  });

  it('of a move that is not made are listed as places that stay', () => {
    const move = { nodeId: 'a', owner: 'tools.0', origin: ORIGIN, headers: [{ name: 'X-Key', value: 'v' }] };
    assert.deepEqual(leaveMove(move, 'Why.'), [{ nodeId: 'a', path: 'tools.0.headers.X-Key', reason: 'Why.' }]);
  });

  it('are not found in malformed drawings, which stay as they are', () => {
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
