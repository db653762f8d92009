import assert from 'node:assert/strict';
import { emptyMasked } from '../../graph/exported-drawing.js';
import { replaceCredentials } from '../../graph/public-drawing.js';

const draw = (type: string, data: Record<string, unknown>) => ({ nodes: [{ id: 'n', type, data }], edges: [] });

const literalsOf = (value: unknown): string[] =>
  replaceCredentials(draw('http-node', { headers: { Authorization: value } }), '********').literals;

describe('a drawing that leaves its project', () => {
  it('loses the defaults of secret fields and keeps those of others', () => {
    const fields = [
      { id: 'a', is_secret: true, default_value: '********' },
      { id: 'b', is_secret: false, default_value: 'kept' },
      { id: 'c', is_secret: true, default_value: '' },
      { id: 'd', is_secret: true },
      'no field',
    ];
    const { drawing, literals } = replaceCredentials(draw('trigger-node', { input_fields: fields }), '');
    const expected = [{ ...(fields[0] as object), default_value: '' }, ...fields.slice(1)];
    assert.deepEqual(drawing, draw('trigger-node', { input_fields: expected }));
    assert.deepEqual(literals, []);
  });

  const credentialHeaders = [
    'Authorization',
    'proxy-authorization',
    'Cookie',
    'X-Api-Key',
    'apikey',
    'X-Auth-Token',
    'x-secret',
    'X-Password',
    'Session-Id',
    'X-Hub-Signature',
  ];
  for (const name of credentialHeaders) {
    it(`loses the header ${name} of HTTP, MCP and agent nodes`, () => {
      const headers = { Accept: '*/*', [name]: 'something-secret' };
      const emptied = { Accept: '*/*', [name]: '' };
      for (const type of ['http-node', 'mcp-node']) {
        const { drawing, literals } = replaceCredentials(draw(type, { url: 'u', headers }), '');
        assert.deepEqual(drawing, draw(type, { url: 'u', headers: emptied }));
        assert.deepEqual(literals, ['something-secret']);
      }
      const agent = replaceCredentials(draw('agent-node', { tools: [{ server_label: 's', headers }] }), '');
      assert.deepEqual(agent.drawing, draw('agent-node', { tools: [{ server_label: 's', headers: emptied }] }));
    });
  }

  it('loses the user name and password of addresses', () => {
    const draw3 = (address: string) => [
      draw('http-node', { url: address }),
      draw('mcp-node', { endpoint_url: address }),
      draw('agent-node', { tools: [{ endpoint_url: address }] }),
    ];
    const without = draw3('https://a.test/x');
    for (const [index, drawn] of draw3('https://user:password@a.test/x').entries()) {
      const { drawing, literals } = replaceCredentials(drawn, '');
      assert.deepEqual(drawing, without[index]);
      assert.deepEqual(literals, ['user:password', 'password']);
    }
    const [masked] = draw3('https://********@a.test/x');
    assert.deepEqual(emptyMasked(masked!), {
      drawing: without[0],
      emptied: [{ node: 'n', message: '"url" held a user name or password: name a connection, which holds them.' }],
    });
  });

  it('names no connection', () => {
    for (const type of ['http-node', 'mcp-node']) {
      const named = draw(type, { url: 'u', connection: 7 });
      assert.deepEqual(replaceCredentials(named, '').drawing, draw(type, { url: 'u' }));
    }
    const named = draw('agent-node', { connection: 'kept', tools: [{ server_label: 's', connection: 'c1' }] });
    const expected = draw('agent-node', { connection: 'kept', tools: [{ server_label: 's' }] });
    assert.deepEqual(replaceCredentials(named, '').drawing, expected);
  });

  it('what stood in a header is told without its scheme and its variables', () => {
    assert.deepEqual(literalsOf('Bearer sk-1234'), ['sk-1234']);
    assert.deepEqual(literalsOf('basic  dXNlcg=='), ['dXNlcg==']);
    assert.deepEqual(literalsOf('Bearer {{ input.token }}'), []);
    assert.deepEqual(literalsOf('{{ input.a }}-tail {{ input.b }}'), ['-tail']);
    assert.deepEqual(literalsOf(12345678), ['12345678']);
    assert.deepEqual(literalsOf({ nested: ['deep-secret'] }), ['deep-secret']);
  });

  it('everything else survives, half drawn and hostile parts too', () => {
    const text = JSON.stringify({
      nodes: [7, null, { id: 'x' }, { id: 'y', data: 3 }, { data: { headers: ['Authorization'], tools: 'none' } }],
      edges: 'later',
      viewport: { x: 1 },
    });
    const odd = JSON.parse(`${text.slice(0, -1)},"__proto__":{"polluted":true}}`) as Record<string, unknown>;
    const { drawing } = replaceCredentials(odd, '');
    assert.equal(JSON.stringify(drawing), JSON.stringify(odd));
    const hostile = JSON.parse('{"nodes":[{"data":{"headers":{"__proto__":"kept","X-Token":"t"}}}]}') as typeof odd;
    const replaced = JSON.stringify(replaceCredentials(hostile, '').drawing);
    assert.equal(replaced, '{"nodes":[{"data":{"headers":{"__proto__":"kept","X-Token":""}}}]}');
  });

  it('the drawing that was given stays as it was', () => {
    const given = draw('http-node', { headers: { Authorization: 'x' } });
    const before = JSON.stringify(given);
    replaceCredentials(given, '');
    assert.equal(JSON.stringify(given), before);
  });
});
