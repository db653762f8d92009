import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MASK } from '../../graph/mask-text.js';
import {
  joinSecrets,
  keepInputSecrets,
  maskInput,
  placesOfDraftOnly,
  secretStrings,
  secretTexts,
  splitRest,
  splitSecrets,
} from '../../graph/secrets.js';
import { drawing, http, trigger } from './drawings.js';

function field(id: unknown, default_value?: unknown, is_secret: unknown = true) {
  return { id, is_secret, ...(default_value !== undefined && { default_value }) };
}

function mcp(headers: Record<string, unknown>, endpoint_url = 'https://mcp.test/a') {
  return { id: 'm', type: 'mcp-node', data: { endpoint_url, headers } };
}

function tool(server_label: string, value: string) {
  return { server_label, headers: { authorization: value } };
}

function agent(tools: unknown[]) {
  return { id: 'g', type: 'agent-node', data: { tools } };
}

describe('splitSecrets', () => {
  it('cuts secret defaults out of all triggers and leaves the rest alone', () => {
    const data = drawing([
      trigger('t', ['h'], [field('key', 'canary-1'), field('open', 'public', false), field('none')]),
      trigger('u', [], [field('key', { deep: 'canary-2' }), field('empty', ''), field('null', null)]),
      http('h', [], { headers: { Accept: 'stays' } }),
    ]);
    const { masked, secrets } = splitSecrets(data);
    assert.deepEqual(secrets, { 'field:t:key': 'canary-1', 'field:u:key': { deep: 'canary-2' } });
    assert.ok(!JSON.stringify(masked).includes('canary'));
    assert.deepEqual(masked['nodes'], [
      trigger('t', ['h'], [field('key', MASK), field('open', 'public', false), field('none')]),
      trigger('u', [], [field('key', MASK), field('empty', ''), field('null', null)]),
      http('h', [], { headers: { Accept: 'stays' } }),
    ]);
  });

  it('cuts credential headers out of MCP nodes and agent tools, by name in any case', () => {
    const headers = {
      Authorization: 'a',
      'X-Api-Key': 'b',
      'x-auth-token': 'c',
      COOKIE: 'd',
      'x-trace': 'e',
      monkey: 'f',
    };
    const tools = [{ server_label: 'one', headers: { authorization: 'g' } }, { headers: { 'my-key': 'h' } }, null];
    const { masked, secrets } = splitSecrets(drawing([mcp(headers), agent(tools)]));
    assert.deepEqual(secrets, {
      'header:m:authorization': 'a',
      'header:m:x-api-key': 'b',
      'header:m:x-auth-token': 'c',
      'header:m:cookie': 'd',
      'header:g:one:authorization': 'g',
      'header:g:#1:my-key': 'h',
    });
    const kept = {
      Authorization: MASK,
      'X-Api-Key': MASK,
      'x-auth-token': MASK,
      COOKIE: MASK,
      'x-trace': 'e',
      monkey: 'f',
    };
    assert.deepEqual((masked['nodes'] as unknown[])[0], mcp(kept));
  });

  it('cuts them out of HTTP nodes, too, and leaves what is only variables', () => {
    const headers = {
      Authorization: 'Bearer canary',
      'X-Api-Key': '{{ input.key }}canary',
      'X-Auth': 'Bearer {{ input.token }}',
      'X-Secret': '{{ canary }}',
      'Idempotency-Key': 'open',
      Accept: '*/*',
    };
    const data = drawing([http('h', [], { headers })]);
    const { masked, secrets } = splitSecrets(data);
    assert.deepEqual(secrets, {
      'header:h:authorization': 'Bearer canary',
      'header:h:x-api-key': '{{ input.key }}canary',
      'header:h:x-secret': '{{ canary }}',
    });
    const kept = { ...headers, Authorization: MASK, 'X-Api-Key': MASK, 'X-Secret': MASK };
    assert.deepEqual(masked, drawing([http('h', [], { headers: kept })]));
    assert.deepEqual(joinSecrets(masked, secrets), data);
  });

  it('cuts the user name and password out of addresses of HTTP nodes, MCP nodes and agent tools', () => {
    const address = (user: string) => `https://${user}@a.test/{{ input.path }}?mail=a@b`;
    const draw = (user: string) =>
      drawing([
        http('h', [], { url: address(user) }),
        { id: 'm', type: 'mcp-node', data: { endpoint_url: address(user) } },
        agent([{ server_label: 'one', endpoint_url: address(user) }]),
      ]);
    const data = draw('user:p%40ssword');
    const { masked, secrets } = splitSecrets(data);
    assert.deepEqual(masked, draw(MASK));
    const names = ['address:h', 'address:m', 'address:g:one'];
    assert.deepEqual(secrets, Object.fromEntries(names.map((name) => [name, 'user:p%40ssword'])));
    assert.deepEqual(joinSecrets(masked, secrets), data);
    assert.deepEqual(
      new Set(secretTexts(secrets)),
      new Set(['user:p%40ssword', 'p%40ssword', 'user:p@ssword', 'p@ssword']),
    );
    const kept = splitSecrets(draw(MASK), { data: masked, secrets });
    assert.deepEqual([kept.masked, kept.secrets], [masked, secrets]);
    assert.deepEqual(splitSecrets(draw(MASK)), { masked, secrets: {} });
    const only = draw('{{ input.user }}:{{ input.password }}');
    assert.deepEqual(splitSecrets(only), { masked: only, secrets: {} });
  });

  it('the user name and password of an address do not go to another server', () => {
    const draw = (url: string) => drawing([http('h', [], { url })]);
    const stored = splitSecrets(draw('https://user:password@a.test/x'));
    const after = (url: string) => splitSecrets(draw(url), { data: stored.masked, secrets: stored.secrets }).secrets;
    assert.deepEqual(after(`https://${MASK}@a.test/y`), stored.secrets);
    assert.deepEqual(after(`https://${MASK}@b.test/x`), {});
  });

  it('on creation ******** is stored literally', () => {
    const data = drawing([trigger('t', [], [field('key', MASK)])]);
    const { masked, secrets } = splitSecrets(data);
    assert.deepEqual(secrets, {});
    assert.deepEqual(masked, data);
    assert.deepEqual(joinSecrets(masked, secrets), data);
  });

  it('on an update ******** keeps what was stored, another value replaces it, an empty one removes it', () => {
    const before = drawing([trigger('t', [], [field('a', 'A'), field('b', 'B'), field('c', 'C')])]);
    const stored = splitSecrets(before);
    const update = drawing([trigger('t', [], [field('a', MASK), field('b', 'new'), field('c', ''), field('d', MASK)])]);
    const { secrets } = splitSecrets(update, { data: stored.masked, secrets: stored.secrets });
    assert.deepEqual(secrets, { 'field:t:a': 'A', 'field:t:b': 'new', 'lost:field:t:d': true });
  });

  it('a field that is no longer secret does not give its stored value away', () => {
    const stored = splitSecrets(drawing([trigger('t', [], [field('a', 'canary')])]));
    const update = drawing([trigger('t', [], [field('a', MASK, false)])]);
    const { masked, secrets } = splitSecrets(update, { data: stored.masked, secrets: stored.secrets });
    assert.deepEqual(joinSecrets(masked, secrets), update);
  });

  it('a stored header is kept only while it goes to the same server', () => {
    const stored = splitSecrets(drawing([mcp({ Authorization: 'canary' })]));
    const after = (url: string) =>
      splitSecrets(drawing([mcp({ authorization: MASK }, url)]), { data: stored.masked, secrets: stored.secrets })
        .secrets;
    assert.deepEqual(after('https://mcp.test/other?x=1'), { 'header:m:authorization': 'canary' });
    for (const url of ['https://evil.test/a', 'http://mcp.test/a', '{{ input.url }}']) {
      assert.deepEqual(after(url), { 'lost:header:m:authorization': true });
    }
  });

  it('a header of an HTTP node is kept while the origin is written in its address, or the address stays the same', () => {
    const after = (before: string, url: string) => {
      const draw = (value: string, address: string) =>
        drawing([http('h', [], { url: address, headers: { Authorization: value } })]);
      const stored = splitSecrets(draw('canary', before));
      const { secrets } = splitSecrets(draw(MASK, url), { data: stored.masked, secrets: stored.secrets });
      return Object.values(secrets)[0];
    };
    for (const [before, url, kept] of [
      ['https://a.test/x', 'https://a.test/{{ input.path }}', true],
      ['https://a.test/{{ input.path }}', 'https://a.test?{{input.query}}', true],
      ['https://a.test/x', 'https://a.test:8443/x', false],
      ['https://a.test/x', 'https://a.test{{ input.tail }}', false],
      ['https://a.test/x', 'https://{{ input.user }}@a.test/x', false],
      ['https://a.test/x', '{{ input.url }}', false],
      ['https://{{ input.host }}/x', 'https://{{ input.host }}/x', true],
      ['https://{{input.host}}/x', 'https://{{input.host}}/y', false],
      ['{{ input.url }}', '{{ input.url }}', true],
      ['{{ input.url }}', '{{ input.other }}', false],
    ] as const) {
      assert.equal(after(before, url), kept ? 'canary' : true, `${before} ${url}`);
    }
  });

  it('a header that becomes variables leaves its value to no other one', () => {
    const stored = splitSecrets(drawing([http('h', [], { headers: { Authorization: 'canary' } })]));
    const update = drawing([http('h', [], { headers: { Authorization: '{{ input.a }}', 'X-Api-Key': MASK } })]);
    const { masked, secrets } = splitSecrets(update, { data: stored.masked, secrets: stored.secrets });
    assert.deepEqual([masked, secrets], [update, { 'lost:header:h:x-api-key': true }]);
  });

  it('what an earlier build has cut out stays so, although it is no credential any more', () => {
    const data = drawing([mcp({ 'Idempotency-Key': MASK, 'X-Key': MASK })]);
    const secrets = { 'header:m:idempotency-key': 'one', 'header:m:x-key': '{{ input.key }}' };
    assert.deepEqual(
      joinSecrets(data, secrets),
      drawing([mcp({ 'Idempotency-Key': 'one', 'X-Key': '{{ input.key }}' })]),
    );
    assert.deepEqual(splitSecrets(data, { data, secrets }), { masked: data, secrets });
  });

  it('splitRest adds what is still in a stored drawing, and keeps what was lost', () => {
    const stored = { 'field:t:a': 'A', 'lost:field:t:b': true };
    const fields = [field('a', MASK), field('b', MASK)];
    const draw = (value: string) =>
      drawing([trigger('t', ['h'], fields), http('h', [], { headers: { 'x-key': value } })]);
    const rest = splitRest({ data: draw('canary'), secrets: stored });
    assert.deepEqual(rest, { data: draw(MASK), secrets: { ...stored, 'header:h:x-key': 'canary' } });
    assert.deepEqual(splitRest(rest), rest);
  });

  it('a renamed place keeps its value where one has gone and one has come, of the same owner and server', () => {
    type Data = ReturnType<typeof drawing>;
    const after = (before: Data, update: Data) => {
      const stored = splitSecrets(before);
      return splitSecrets(update, { data: stored.masked, secrets: stored.secrets }).secrets;
    };
    const fields = (...ids: [string, unknown][]) => [
      trigger(
        't',
        [],
        ids.map(([id, value]) => field(id, value)),
      ),
    ];
    const two = drawing(fields(['a', 'A'], ['b', 'B']));
    assert.deepEqual(after(two, drawing(fields(['c', MASK], ['b', MASK]))), { 'field:t:c': 'A', 'field:t:b': 'B' });
    const both = after(two, drawing(fields(['c', MASK], ['d', MASK])));
    assert.deepEqual(both, { 'lost:field:t:c': true, 'lost:field:t:d': true }, 'which is which is unknown');
    const split = after(two, drawing(fields(['b', MASK], ['c', MASK], ['d', MASK])));
    assert.deepEqual(split, { 'field:t:b': 'B', 'lost:field:t:c': true, 'lost:field:t:d': true });
    const moved = after(two, drawing([...fields(['b', MASK]), trigger('u', [], [field('a', MASK)])]));
    assert.deepEqual(moved, { 'field:t:b': 'B', 'lost:field:u:a': true }, 'another node is another owner');

    const one = drawing([mcp({ Authorization: 'canary' })]);
    assert.deepEqual(after(one, drawing([mcp({ 'x-api-key': MASK })])), { 'header:m:x-api-key': 'canary' });
    const elsewhere = drawing([mcp({ 'x-api-key': MASK }, 'https://evil.test/')]);
    assert.deepEqual(after(one, elsewhere), { 'lost:header:m:x-api-key': true });
  });

  it('******** that was created as it is stays so, and what was lost stays lost', () => {
    const created = splitSecrets(drawing([trigger('t', [], [field('a', MASK)])]));
    const again = splitSecrets(created.masked, { data: created.masked, secrets: created.secrets });
    assert.deepEqual(again.secrets, {});
    const lost = { data: created.masked, secrets: { 'lost:field:t:a': true } };
    assert.deepEqual(splitSecrets(created.masked, lost).secrets, { 'lost:field:t:a': true });
  });

  it('a tool that moves in the list keeps its header by its label', () => {
    const stored = splitSecrets(drawing([agent([tool('a', 'A'), tool('b', 'B')])]));
    const update = drawing([agent([tool('b', MASK), tool('a', MASK)])]);
    const { secrets } = splitSecrets(update, { data: stored.masked, secrets: stored.secrets });
    assert.deepEqual(secrets, { 'header:g:b:authorization': 'B', 'header:g:a:authorization': 'A' });
  });

  it('ids that look like places, repeat or are missing do not mix their secrets up', () => {
    const data = drawing([
      trigger('a:b', [], [field('c', '1'), field('c', '2')]),
      trigger('a', [], [field('b:c', '3'), field('b%3ac', '4'), field(undefined, '5'), field(7, '6')]),
      trigger('a', [], [field('b:c', '7')]),
      mcp({ Cookie: '8', cookie: '9' }),
    ]);
    const { masked, secrets } = splitSecrets(data);
    assert.deepEqual(Object.values(secrets), ['1', '2', '3', '4', '5', '6', '7', '8', '9']);
    assert.deepEqual(joinSecrets(masked, secrets), data);
  });

  it('then joinSecrets is the identity, and what lies between holds no secret', () => {
    const id = fc.constantFrom('a', 'b', 'a:b', '__proto__', '#1', '');
    const value = fc.oneof(
      fc.string().map((text) => `canary${text}`),
      fc.constantFrom('', null, MASK),
      fc.jsonValue(),
    );
    const fields = fc.array(fc.record({ id, is_secret: fc.boolean(), default_value: value }, { requiredKeys: ['id'] }));
    const headers = fc.dictionary(fc.constantFrom('Authorization', 'cookie', 'x-key', '__proto__', 'accept'), value);
    const type = fc.constantFrom('trigger-node', 'mcp-node', 'agent-node', 'http-node');
    const tools = fc.array(fc.oneof(fc.record({ server_label: id, headers }), fc.jsonValue()));
    const nodeData = fc.record({ input_fields: fields, headers, tools }, { requiredKeys: [] });
    const node = fc.record({ id, type, data: fc.oneof(nodeData, fc.jsonValue()) });
    fc.assert(
      fc.property(fc.array(fc.oneof(node, fc.jsonValue())), (nodes) => {
        const data = JSON.parse(JSON.stringify({ nodes, viewport: 1 })) as Record<string, unknown>;
        const text = JSON.stringify(data);
        const { masked, secrets } = splitSecrets(data);
        assert.equal(JSON.stringify(joinSecrets(masked, secrets)), text);
        assert.equal(JSON.stringify(data), text, 'the original is left as it was');
        const again = splitSecrets(masked, { data: masked, secrets });
        assert.deepEqual(again, { masked, secrets }, 'sending a read document back changes nothing');
      }),
      { numRuns: 500 },
    );
  });
});

describe('maskInput', () => {
  const fields = [field('key'), field('pin'), field('open', undefined, false), field('__proto__')];

  it('masks the secret fields and lists their texts', () => {
    const input = JSON.parse(
      '{"key": {"a": ["canary-1", 7]}, "pin": 12345678, "open": "x", "__proto__": "canary-2"}',
    ) as Record<string, unknown>;
    const { masked, secretValues } = maskInput(fields, input);
    assert.equal(JSON.stringify(masked), `{"key":"${MASK}","pin":"${MASK}","open":"x","__proto__":"${MASK}"}`);
    assert.deepEqual(secretValues, ['canary-1', '7', '12345678', 'canary-2']);
  });

  it('leaves empty and missing fields as they are', () => {
    assert.deepEqual(maskInput(fields, { key: '', pin: null }), { masked: { key: '', pin: null }, secretValues: [] });
    assert.deepEqual(maskInput(fields, {}), { masked: {}, secretValues: [] });
    assert.deepEqual(maskInput(fields, ['x']), { masked: ['x'], secretValues: [] });
  });
});

describe('a draft beside what is stored', () => {
  const split = (data: Parameters<typeof splitSecrets>[0]) => {
    const { masked, secrets } = splitSecrets(data);
    return { data: masked, secrets };
  };
  const one = (id: string, value: string) => drawing([trigger('t', [], [field(id, value)])]);

  it('gives its value first, the stored one where it has none, and neither where the origin is another', () => {
    const nodes = (a: string, b: string, origin = 'https://mcp.test') =>
      drawing([mcp({ authorization: a }, `${origin}/a`), { ...mcp({ 'x-api-key': b }), id: 'n' }]);
    const stored = split(nodes('stored a', 'stored b'));
    const draft = split(nodes('draft a', '{{ input.b }}'));
    const asked = nodes(MASK, MASK);
    const of = (secrets: object) => Object.values(secrets);
    assert.deepEqual(of(splitSecrets(asked, stored, draft).secrets), ['draft a', 'stored b']);
    assert.deepEqual(of(splitSecrets(asked, stored).secrets), ['stored a', 'stored b']);
    assert.deepEqual(splitSecrets(asked, undefined, draft).secrets, { 'header:m:authorization': 'draft a' });
    assert.deepEqual(splitSecrets(nodes(MASK, 'new', 'https://other.test'), stored, draft).secrets, {
      'lost:header:m:authorization': true,
      'header:n:x-api-key': 'new',
    });
  });

  it('a field that was renamed since keeps the value of the draft', () => {
    const { secrets } = splitSecrets(one('renamed', MASK), split(drawing([])), split(one('key', 'draft')));
    assert.deepEqual(secrets, { 'field:t:renamed': 'draft' });
  });

  it('names the places for which it alone has a value', () => {
    const [typed, empty] = [split(one('key', 'draft')), split(drawing([]))];
    const namesOf = (...given: Parameters<typeof placesOfDraftOnly>) =>
      placesOfDraftOnly(...given).map(({ name, path }) => [name, path]);
    const place = ['field:t:key', 'input_fields.0.default_value'];
    assert.deepEqual(namesOf(one('key', MASK), empty, typed), [place]);
    const literal = { data: one('key', MASK), secrets: {} };
    assert.deepEqual(namesOf(one('key', MASK), literal, typed), [place], 'a literal mask is no stored value');
    assert.deepEqual(namesOf(one('key', MASK), split(one('key', 'stored')), typed), []);
    assert.deepEqual(namesOf(one('key', MASK), empty, literal), [], 'the draft has none');
    assert.deepEqual(namesOf(one('key', 'typed again'), empty, typed), []);
    assert.deepEqual(namesOf(one('other', MASK), empty, split(one('key', ''))), []);
  });
});

describe('keepInputSecrets', () => {
  const fields = [field('key'), field('other'), field('open', undefined, false)];

  it('puts the stored value where a secret field says ********, and nothing where another field does', () => {
    const secrets = new Map([['key', 'canary']]);
    const stored = (id: string) => secrets.get(id);
    const input = { key: MASK, other: MASK, open: MASK, more: MASK };
    assert.deepEqual(keepInputSecrets(fields, input, stored), { ...input, key: 'canary', other: null, open: null });
    assert.deepEqual(keepInputSecrets(fields, { key: 'new' }, stored), { key: 'new' });
    assert.deepEqual(keepInputSecrets(fields, {}, stored), {});
  });
});

describe('secretStrings', () => {
  it('gives strings and the text of numbers at any depth', () => {
    assert.deepEqual(secretStrings({ a: ['x', { b: 1.5 }], c: true, d: null, e: 'y' }), ['x', '1.5', 'y']);
    assert.deepEqual(secretStrings('x'), ['x']);
    assert.deepEqual(secretStrings(JSON.parse('['.repeat(1e6) + '"x"' + ']'.repeat(1e6))), ['x']);
  });
});

describe('secretTexts', () => {
  it('looks for a credential with and without its scheme, and for every string of a field', () => {
    const secrets = {
      'header:m:authorization': 'Bearer abc.def',
      'header:m:x-key': 'plain',
      'field:t:f': { a: ['two words'] },
    };
    assert.deepEqual(new Set(secretTexts(secrets)), new Set(['Bearer abc.def', 'abc.def', 'plain', 'two words']));
    const mixed = secretTexts({ 'header:h:authorization': 'Bearer {{ input.a }}.abc.{{ input.b }}' });
    assert.ok(mixed.includes('.abc.'));
  });
});
