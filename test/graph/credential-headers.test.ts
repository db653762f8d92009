import assert from 'node:assert/strict';
import { credentialLiteralsOf, isCredentialHeader, isOnlyVariables } from '../../graph/credential-headers.js';
import { credentialHeadersOf } from '../../graph/literal-credentials.js';
import { MASK } from '../../graph/mask-text.js';
import { assertCostRatio, cpuMilliseconds } from '../support/cpu-time.js';
import { drawing, http, trigger } from './drawings.js';

const WORDS = [
  'authorization',
  'auth',
  'key',
  'apikey',
  'token',
  'secret',
  'password',
  'cookie',
  'session',
  'signature',
  'credential',
];

describe('the name of a credential header', () => {
  it('has one of eleven words between - or _, in any case', () => {
    for (const word of WORDS) {
      const capital = `${word[0]!.toUpperCase()}${word.slice(1)}`;
      const names = [word, capital, word.toUpperCase(), `X-${capital}`, `x_${word}`, `${word}-id`, `My-${capital}_2`];
      for (const name of names) assert.ok(isCredentialHeader(name), name);
      for (const name of [`my${word}`, `${word}s`, `x.${word}`, `x ${word}`])
        assert.ok(!isCredentialHeader(name), name);
    }
    for (const name of ['Proxy-Authorization', 'X-Client-Secret', 'X-Hub-Signature-256', 'Private-Token']) {
      assert.ok(isCredentialHeader(name), name);
    }
  });

  it('is no other: Idempotency-Key, author, monkey, keys', () => {
    const others = [
      'Idempotency-Key',
      'idempotency-key',
      'X-Author',
      'Monkey',
      'Keys',
      'Accept',
      'Content-Type',
      '',
      '-',
    ];
    for (const name of others) assert.ok(!isCredentialHeader(name), name);
    assert.ok(isCredentialHeader('X-Idempotency-Key'), 'only the name itself is left out');
  });
});

describe('the value of a credential header', () => {
  it('is only variables if nothing is beside them but white space and a scheme', () => {
    for (const value of [
      '{{ input.key }}',
      ' {{ a.result.token }} ',
      'Bearer {{input.a}}',
      'basic  {{ input.a }}{{ input.b }}',
    ]) {
      assert.ok(isOnlyVariables(value), value);
    }
    for (const value of [
      'abc',
      'Bearer abc',
      'Bearer {{ input.a }}x',
      '{{ input.a }}:{{ input.b }}',
      '{{ sk-live }}',
      '{{{ input.a }}}',
      '{{ input.a',
      7,
      true,
      null,
      {},
    ]) {
      assert.ok(!isOnlyVariables(value), JSON.stringify(value));
    }
  });

  it('has its literal parts without scheme and variables', () => {
    assert.deepEqual(credentialLiteralsOf('Token abc'), ['abc']);
    assert.deepEqual(credentialLiteralsOf('Bearer {{ input.a }}-tail {{ sk-live }}'), ['-tail', 'sk-live']);
  });

  it('is looked at in linear time, whatever braces there are', async () => {
    for (const valueOf of [
      (count: number) => '{{'.repeat(2 * count),
      (count: number) => '}}'.repeat(2 * count),
      (count: number) => '{{ }}'.repeat(count),
      (count: number) => `${'{{'.repeat(count)}}}`,
    ]) {
      const costOf = (count: number): number => {
        const value = valueOf(count);
        return cpuMilliseconds(() => [isOnlyVariables(value), credentialLiteralsOf(value)]);
      };
      await assertCostRatio(costOf, { small: 10_000, large: 100_000, limit: 30 });
    }
  });
});

describe('the credential headers of a drawing', () => {
  const tools = [
    { server_label: 'a', endpoint_url: 'https://tools.test/mcp', headers: { Authorization: 'Bearer three' } },
    { type: 'workflow', workflow_id: 7 },
    { server_label: 'b', endpoint_url: 'https://other.test/mcp', headers: { 'x-api-key': MASK } },
  ];
  const data = drawing([
    trigger('t', ['h']),
    http('h', ['i'], {
      url: 'https://api.test/v1?x=1',
      headers: { Authorization: 'one', 'X-Key': 2, Accept: '*/*', Cookie: '' },
    }),
    http('i', ['m'], { url: 'https://{{ input.host }}/', headers: { Authorization: 'Bearer {{ input.a }}' } }),
    { id: 'm', type: 'mcp-node', data: { endpoint_url: 'https://mcp.test/sse', headers: { Token: 'two' } } },
    { id: 'g', type: 'agent-node', data: { tools } },
    { id: 'l', type: 'basic-node', data: { headers: { Authorization: 'sent to nobody' } } },
  ]);

  it('are listed with node, owner, origin, name and value, also where the value is variables, or lost', () => {
    const found = credentialHeadersOf(data).map(({ nodeId, owner, origin, name, path, value }) => [
      nodeId,
      owner,
      origin,
      name,
      path,
      value,
    ]);
    assert.deepEqual(found, [
      ['h', '', 'https://api.test', 'Authorization', 'headers.Authorization', 'one'],
      ['h', '', 'https://api.test', 'X-Key', 'headers.X-Key', '2'],
      // Variables decide the origin.
      ['i', '', 'https://{{ input.host }}/', 'Authorization', 'headers.Authorization', 'Bearer {{ input.a }}'],
      ['m', '', 'https://mcp.test', 'Token', 'headers.Token', 'two'],
      ['g', 'tools.0', 'https://tools.test', 'Authorization', 'tools.0.headers.Authorization', 'Bearer three'],
      ['g', 'tools.2', 'https://other.test', 'x-api-key', 'tools.2.headers.x-api-key', MASK],
    ]);
  });

  it('are none in what cannot be drawn', () => {
    const odd = {
      nodes: [
        null,
        { id: 7, type: 'http-node', data: { headers: { Token: 'x' } } },
        { id: 'h', type: 'http-node', data: { headers: ['Token'] } },
      ],
    };
    assert.deepEqual(credentialHeadersOf(odd), []);
  });
});
