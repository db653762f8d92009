import assert from 'node:assert/strict';
import fc from 'fast-check';
import { OpenapiError } from '../../openapi/document.js';
import { readOpenapi, type ReadAction, type ReadService } from '../../openapi/read-openapi.js';
import type { JsonObject } from '../../graph/json.js';
import { assertCostRatio, cpuMilliseconds } from '../support/cpu-time.js';

const RULES = { allowsHttp: false };
const ok = { responses: { 200: { description: 'ok' } } };

function v3(paths: JsonObject, more: JsonObject = {}): JsonObject {
  const servers = [{ url: 'https://api.example.com/v1/' }];
  return { openapi: '3.0.3', info: { title: 'Things', version: '7' }, servers, paths, ...more };
}

function read(document: unknown, rules: Partial<Parameters<typeof readOpenapi>[1]> = {}): ReadService {
  return readOpenapi(document, { ...RULES, ...rules });
}

function only(document: unknown): ReadAction {
  const { actions, warnings } = read(document);
  assert.deepEqual([actions.length, warnings], [1, []]);
  return actions[0]!;
}

function refusal(document: unknown, rules: Partial<Parameters<typeof readOpenapi>[1]> = {}): string {
  try {
    read(document, rules);
  } catch (error) {
    assert.ok(error instanceof OpenapiError, String(error));
    return error.message;
  }
  return assert.fail('it was taken');
}

describe('the actions of an OpenAPI document', () => {
  it('have the parameters and the properties of the body as fields, in their places', () => {
    const document = v3(
      {
        '/users/{id}': {
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
          put: {
            operationId: 'putUser',
            summary: 'Put a user',
            description: 'Text with <b>markup</b>',
            externalDocs: { url: 'https://docs.example.com/put' },
            parameters: [
              { name: 'tags', in: 'query', explode: false, schema: { type: 'array', items: { type: 'string' } } },
              { name: 'filter', in: 'query', style: 'deepObject', explode: true, schema: { type: 'object' } },
              { name: 'X-Trace', in: 'header', required: true, schema: { type: 'string' } },
              { name: 'Authorization', in: 'header', required: true, schema: { type: 'string' } },
              { name: 'session', in: 'cookie', schema: { type: 'string' } },
            ],
            requestBody: {
              required: true,
              content: { 'application/json': { schema: { $ref: '#/components/schemas/User' } } },
            },
            responses: { 201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/User' } } } } },
          },
        },
      },
      {
        components: {
          schemas: {
            User: {
              type: 'object',
              required: ['name', 'made'],
              properties: {
                name: { type: 'string' },
                id: { type: 'string', description: 'Of the body' },
                made: { type: 'string', readOnly: true },
                friend: { $ref: '#/components/schemas/User' },
              },
            },
          },
        },
      },
    );
    const action = only(document);
    const { fields, result, ...rest } = action;
    assert.deepEqual(rest, {
      id: 'putUser',
      title: 'Put a user',
      description: 'Text with <b>markup</b>',
      method: 'PUT',
      server: 'https://api.example.com/v1',
      path: '/users/{id}',
      has_side_effects: true,
      body: { media_type: 'application/json', is_required: true },
      documentation_url: 'https://docs.example.com/put',
    });
    assert.deepEqual(fields['required'], ['id', 'X-Trace', 'name']);
    const properties = fields['properties'] as Record<string, JsonObject>;
    assert.deepEqual(Object.keys(properties), ['id', 'tags', 'filter', 'X-Trace', 'name', 'id_body', 'friend']);
    assert.deepEqual(properties['tags'], {
      type: 'array',
      items: { type: 'string' },
      'x-in': 'query',
      'x-explode': false,
    });
    assert.deepEqual(properties['filter'], {
      type: 'object',
      'x-in': 'query',
      'x-style': 'deepObject',
      'x-explode': true,
    });
    assert.deepEqual(properties['id_body'], {
      type: 'string',
      description: 'Of the body',
      'x-in': 'body',
      'x-name': 'id',
    });
    // A schema that contains itself ends at the inner reference.
    assert.deepEqual((properties['friend']!['properties'] as JsonObject)['friend'], {});
    assert.equal((result as JsonObject)['type'], 'object');
  });

  it('give a name without a suffix to path, query, header, body in this order', () => {
    const document = v3({
      '/{a}': {
        post: {
          parameters: [
            { name: 'a', in: 'header', schema: {} },
            { name: 'a', in: 'query', schema: {} },
            { name: 'a', in: 'path', required: true, schema: {} },
          ],
          requestBody: { content: { 'application/json': { schema: { properties: { a: {} } } } } },
        },
      },
    });
    assert.deepEqual(Object.keys(only(document).fields['properties'] as object), [
      'a',
      'a_query',
      'a_header',
      'a_body',
    ]);
  });

  it('have one field `body` where the body is no object with properties', () => {
    const bodyOf = (content: JsonObject) => {
      const { fields, body } = only(v3({ '/': { post: { requestBody: { content, required: true } } } }));
      return { body, properties: fields['properties'] as JsonObject, required: fields['required'] };
    };
    assert.deepEqual(bodyOf({ 'application/json': { schema: { type: 'array', items: { type: 'integer' } } } }), {
      body: { media_type: 'application/json', is_required: true, is_whole: true },
      properties: { body: { type: 'array', items: { type: 'integer' }, 'x-in': 'body' } },
      required: ['body'],
    });
    assert.deepEqual(bodyOf({ 'application/octet-stream': {} }).properties, {
      body: { type: 'string', format: 'binary', 'x-in': 'body' },
    });
    assert.deepEqual(bodyOf({ 'text/plain': {} }).properties, { body: { type: 'string', 'x-in': 'body' } });
  });

  it('take JSON, then form, multipart, others', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const typeOf = (...types: string[]) => {
      const content = Object.fromEntries(types.map((type) => [type, { schema }]));
      return only(v3({ '/': { post: { requestBody: { content } } } })).body?.media_type;
    };
    const [json, form, multipart] = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];
    assert.equal(typeOf('text/csv', multipart, form, 'application/problem+json'), 'application/problem+json');
    assert.equal(typeOf('text/csv', multipart, form), form);
    assert.equal(typeOf('text/csv', multipart), multipart);
    assert.equal(typeOf('text/csv', 'Multipart/Form-Data'), 'Multipart/Form-Data');
    assert.equal(typeOf('text/csv'), 'text/csv');
    assert.equal(typeOf('*/*'), json);
  });

  it('leave parameters of security schemes to the connection, and say which kinds meet them', () => {
    const { actions, connection_kinds } = read(
      v3(
        {
          '/': {
            get: {
              ...ok,
              parameters: [
                { name: 'X-Api-Key', in: 'header', required: true, schema: {} },
                { name: 'q', in: 'query', schema: {} },
              ],
            },
          },
        },
        {
          components: {
            securitySchemes: {
              key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
              basic: { type: 'http', scheme: 'basic' },
              oauth: { type: 'oauth2', flows: { authorizationCode: {}, clientCredentials: {} } },
            },
          },
        },
      ),
    );
    assert.deepEqual(Object.keys(actions[0]!.fields['properties'] as object), ['q']);
    assert.deepEqual(connection_kinds, ['header', 'basic', 'oauth2', 'oauth2_client_credentials']);
  });

  it('write lists as the document says, also where it names the style that is usual', () => {
    const list = { schema: { type: 'array', items: { type: 'string' } } };
    const { fields } = only(
      v3({
        '/': {
          get: {
            ...ok,
            parameters: [
              { name: 'a', in: 'query', style: 'form', explode: false, ...list },
              { name: 'b', in: 'query', style: 'form', explode: true, ...list },
              { name: 'c', in: 'query', style: 'pipeDelimited', explode: false, ...list },
            ],
          },
        },
      }),
    );
    const found = Object.values(fields['properties'] as Record<string, JsonObject>);
    assert.deepEqual(
      found.map((field) => [field['x-style'], field['x-explode']]),
      [
        [undefined, false],
        [undefined, undefined],
        ['pipeDelimited', undefined],
      ],
    );
  });

  it('take plain JSON before other types of JSON, and send it where the document has only a wildcard', () => {
    const typeOf = (...types: string[]): string => {
      const schema = { type: 'object', properties: { a: { type: 'string' } } };
      const content = Object.fromEntries(types.map((type) => [type, { schema }]));
      return only(v3({ '/': { post: { ...ok, requestBody: { content } } } })).body!.media_type;
    };
    assert.equal(typeOf('application/*+json', 'application/json-patch+json', 'application/json'), 'application/json');
    assert.equal(typeOf('application/json; charset=utf-8', 'text/json'), 'application/json; charset=utf-8');
    assert.equal(typeOf('application/*+json'), 'application/json');
    assert.equal(typeOf('application/x-www-form-urlencoded', 'application/hal+json'), 'application/hal+json');
  });

  it('keep of schemas only what is a schema, because a model gets it', () => {
    const property = {
      type: 'string',
      pattern: `^${'a|'.repeat(200)}$`,
      format: 7,
      minLength: '3',
      maxLength: -1,
      minimum: Number.POSITIVE_INFINITY,
      maximum: 'x',
      uniqueItems: 'yes',
      minItems: 1.5,
      maxItems: 9,
    };
    const parameters = [{ name: 'a', in: 'query', schema: property }];
    const { fields } = only(v3({ '/': { get: { ...ok, parameters } } }));
    assert.deepEqual(fields['properties'], { a: { type: 'string', maxItems: 9, 'x-in': 'query' } });
  });

  it('have no default that is only a part of the one in the document', () => {
    const defaultOf = (value: unknown): unknown => {
      const parameters = [{ name: 'a', in: 'query', schema: { type: 'string', default: value } }];
      const { fields } = only(v3({ '/': { get: { ...ok, parameters } } }));
      return (fields['properties'] as { a: JsonObject }).a['default'];
    };
    assert.equal(defaultOf('x'.repeat(200)), 'x'.repeat(200));
    assert.equal(defaultOf('x'.repeat(201)), undefined);
    assert.equal(defaultOf(false), false);
  });

  it('write a list of Swagger 2.0 with commas where its format is unknown, whatever its name', () => {
    for (const collectionFormat of ['constructor', '__proto__', 'csv', 7]) {
      const parameters = [{ name: 'a', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat }];
      const document = {
        swagger: '2.0',
        info: { title: 'Old', version: '1' },
        host: 'old.example.com',
        schemes: ['https'],
        paths: { '/': { get: { ...ok, parameters } } },
      };
      const { fields } = only(document);
      assert.equal((fields['properties'] as { a: JsonObject }).a['x-style'], 'form', String(collectionFormat));
    }
  });

  it('get ids in a time that grows with their number if thousands of operations would have the same id', async () => {
    const costOf = (count: number): number => {
      const paths = Object.fromEntries(
        Array.from({ length: count }, (_, index) => [
          `/${'é'.repeat(index % 150)}/${'ü'.repeat(index / 150)}`,
          { get: ok },
        ]),
      );
      let service: ReadService | undefined;
      const costMs = cpuMilliseconds(() => (service = read(v3(paths))));
      assert.equal(new Set(service!.actions.map(({ id }) => id)).size, count);
      assert.deepEqual(service!.warnings, []);
      return costMs;
    };
    await assertCostRatio(costOf, { small: 2_000, large: 20_000, limit: 30 });
  });

  it('have unique ids; the second of two operations with the same id gets a warning', () => {
    const { actions, warnings } = read(
      v3({
        '/a': { get: { operationId: 'same', ...ok }, post: { operationId: 'same', ...ok } },
        '/b/{c}': { get: ok, delete: { operationId: 'repos/delete it', ...ok } },
      }),
    );
    assert.deepEqual(
      actions.map(({ id }) => id),
      ['same', 'post_a', 'get_b_c', 'repos_delete_it'],
    );
    assert.deepEqual(
      warnings.map(({ operation }) => operation),
      ['POST /a'],
    );
    assert.match(warnings[0]!.message, /"post_a"/);
  });

  it('are missing for operations that cannot be called, each with a warning', () => {
    const { actions, warnings } = read(
      v3({
        '/ok': { get: ok },
        '/nothing': { get: { operationId: 'nothing', requestBody: { $ref: '#/components/none' } } },
        '/circle': { get: { parameters: [{ $ref: '#/paths/~1circle/get/parameters/0' }] } },
        '/cookie': { get: { parameters: [{ name: 'sid', in: 'cookie', required: true }] } },
        '/header': { get: { parameters: [{ name: 'Cookie', in: 'header', required: true }] } },
        '/trace': { trace: ok },
        '/elsewhere': { $ref: 'https://evil.example.com/paths.json#/x' },
        '/server': { get: { servers: [{ url: 'ftp://files.example.com' }], ...ok } },
        '/number': { get: 7 },
      }),
    );
    assert.deepEqual(
      actions.map(({ path }) => path),
      ['/ok'],
    );
    const told = Object.fromEntries(warnings.map(({ operation, message }) => [operation, message]));
    assert.match(told['nothing']!, /leads to nothing/);
    assert.match(told['GET /circle']!, /circle/);
    assert.match(told['GET /cookie']!, /cookie "sid"/);
    assert.match(told['GET /header']!, /cookie "Cookie"/);
    assert.match(told['TRACE /trace']!, /TRACE/);
    assert.match(told['/elsewhere']!, /another document/);
    assert.match(told['GET /server']!, /not https/);
    assert.match(told['GET /number']!, /not an object/);
    assert.equal(warnings.length, 8);
  });

  it('are those of Swagger 2.0, too', () => {
    const document = {
      swagger: '2.0',
      info: { title: 'Old', version: '1' },
      host: 'old.example.com',
      basePath: '/api',
      schemes: ['http', 'https'],
      consumes: ['application/json'],
      paths: {
        '/pets/{id}': {
          post: {
            operationId: 'change',
            consumes: ['application/x-www-form-urlencoded'],
            parameters: [
              { name: 'id', in: 'path', required: true, type: 'string' },
              { name: 'names', in: 'query', type: 'array', items: { type: 'string' } },
              { name: 'more', in: 'query', type: 'array', collectionFormat: 'multi', items: { type: 'string' } },
              { name: 'age', in: 'formData', type: 'integer', required: true },
            ],
          },
          put: {
            operationId: 'photo',
            parameters: [
              { name: 'photo', in: 'formData', type: 'file' },
              { name: 'id', in: 'path', required: true, type: 'string' },
            ],
          },
          patch: {
            operationId: 'whole',
            parameters: [
              {
                name: 'pet',
                in: 'body',
                required: true,
                schema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
              },
            ],
          },
        },
      },
    };
    const [photo, change, whole] = read(document).actions;
    assert.equal(change!.server, 'https://old.example.com/api');
    const fields = change!.fields['properties'] as Record<string, JsonObject>;
    assert.deepEqual(fields['names'], {
      type: 'array',
      items: { type: 'string' },
      'x-in': 'query',
      'x-style': 'form',
      'x-explode': false,
    });
    assert.deepEqual([fields['more']!['x-explode'], fields['age']!['x-in']], [true, 'body']);
    assert.equal(change!.body?.media_type, 'application/x-www-form-urlencoded');
    assert.equal(photo!.body?.media_type, 'multipart/form-data');
    assert.equal((photo!.fields['properties'] as Record<string, JsonObject>)['photo']!['format'], 'binary');
    assert.deepEqual(
      [whole!.fields['required'], whole!.body],
      [['id', 'name'], { media_type: 'application/json', is_required: true }],
    );
  });

  it('go to a server of the operation, the path or the document, or to the one that replaces them', () => {
    const document = v3({
      '/own': { get: { servers: [{ url: 'https://own.example.com' }], ...ok } },
      '/path': { servers: [{ url: 'https://{where}.example.com', variables: { where: { default: 'eu' } } }], get: ok },
      '/all': { get: ok },
    });
    assert.deepEqual(
      read(document).actions.map(({ server }) => server),
      ['https://own.example.com', 'https://eu.example.com', 'https://api.example.com/v1'],
    );
    const replaced = read(document, { serverUrl: 'https://mine.example.com/x' });
    assert.deepEqual(new Set(replaced.actions.map(({ server }) => server)), new Set(['https://mine.example.com/x']));
    const relative = v3({ '/': { get: ok } }, { servers: [{ url: '/v2' }] });
    assert.equal(
      read(relative, { documentUrl: 'https://docs.example.com/a/openapi.json' }).actions[0]!.server,
      'https://docs.example.com/v2',
    );
  });
});

describe('a document that cannot be used', () => {
  it('is refused with a sentence that names the place', () => {
    const paths = { '/': { get: ok } };
    const refused: [unknown, RegExp][] = [
      ['text', /^The document is not an object/],
      [[], /^The document is not an object/],
      [{}, /^openapi: /],
      [{ openapi: '4.0.0' }, /^openapi: "4.0.0" is not/],
      [{ swagger: '1.2' }, /^swagger: /],
      [{ openapi: '3.0.0' }, /^info: /],
      [{ openapi: '3.0.0', info: {} }, /^info\.title: /],
      [v3(paths, { paths: [] }), /^paths: /],
      [v3(paths, { servers: [{ url: 'http://api.example.com' }] }), /^servers: "http:.* is not https; send server_url/],
      [v3(paths, { servers: [{ url: '/v1' }] }), /^servers: .*no scheme and host; send server_url/],
      [v3(paths, { servers: [{ url: 'https://user:secret@example.com' }] }), /^servers: the address holds a user name/],
      [v3(paths, { servers: [{ url: 'https://{host}/' }] }), /^servers: .*variable without a default/],
    ];
    for (const [document, message] of refused) assert.match(refusal(document), message);
    assert.equal(
      read(v3(paths, { servers: [{ url: 'http://api.example.com' }] }), { allowsHttp: true }).actions.length,
      1,
    );
  });

  it('is refused if it has more than 20,000 operations', () => {
    const paths = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`/p${index}`, { get: ok }]));
    assert.match(refusal(v3(paths)), /^paths: the document has more than 20000 operations/);
  });
});

describe('hostile schemas', () => {
  const withSchema = (schema: unknown, more: JsonObject = {}) =>
    v3(
      { '/': { post: { requestBody: { content: { 'application/json': { schema } } } } } },
      { components: { schemas: more } },
    );

  it('are cut if they are a thousand levels deep, refer to themselves, or share parts without end', () => {
    let deep: JsonObject = { type: 'string' };
    for (let level = 0; level < 1000; level += 1) deep = { type: 'object', properties: { in: deep } };
    const wide: JsonObject = {};
    for (let level = 0; level < 30; level += 1) {
      const next = { $ref: `#/components/schemas/S${level + 1}` };
      wide[`S${level}`] = { type: 'object', properties: { a: next, b: next, c: next, d: next } };
    }
    wide['S30'] = { type: 'string' };
    const circle: JsonObject = {
      A: { allOf: [{ $ref: '#/components/schemas/B' }] },
      B: { allOf: [{ $ref: '#/components/schemas/A' }] },
    };
    for (const document of [
      withSchema(deep),
      withSchema({ $ref: '#/components/schemas/S0' }, wide),
      withSchema({ $ref: '#/components/schemas/A' }, circle),
      withSchema({ type: 'object', properties: { a: { $ref: '#' } } }),
    ]) {
      const { actions } = read(document);
      assert.equal(actions.length, 1);
      assert.ok(JSON.stringify(actions[0]!.fields).length < 100_000);
    }
  });

  it('with large lists and long names stay within the size of an action, and keep their fields', () => {
    const texts = Array.from({ length: 200 }, (_, at) => `${at}`.padEnd(200, 'x'));
    const shared: JsonObject = {
      Enum: { type: 'string', enum: texts },
      Types: { type: Array(100_000).fill('string') },
      Required: { properties: { a: {} }, required: Array(100_000).fill('a') },
      Constant: { const: 'x'.repeat(100_000) },
      Name: { properties: { ['x'.repeat(100_000)]: {} } },
      Parts: { anyOf: Array.from({ length: 50 }, () => ({ anyOf: Array.from({ length: 50 }, () => ({})) })) },
    };
    for (const name of Object.keys(shared)) {
      const part = { $ref: `#/components/schemas/${name}` };
      const properties = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`p${at}`, part]));
      const { fields, result } = only({
        ...withSchema({ type: 'object', properties }, shared),
        paths: {
          '/': {
            post: {
              requestBody: { content: { 'application/json': { schema: { type: 'object', properties } } } },
              responses: { 200: { content: { 'application/json': { schema: { properties } } } } },
            },
          },
        },
      });
      assert.equal(Object.keys(fields['properties'] as object).length, 500, name);
      const characters = [fields, result].map((schema) => JSON.stringify(schema).length);
      assert.ok(characters[0]! < 64_000 && characters[1]! < 20_000, `${name}: ${characters.join()}`);
    }
    const { fields } = only(withSchema({ properties: { a: { type: ['string', 'null', 'string'], enum: ['b'] } } }));
    assert.deepEqual(fields['properties'], { a: { type: ['string', 'null'], enum: ['b'], 'x-in': 'body' } });
  });

  it('with parts of parts without end are one field, and are read in no time', () => {
    const partsOf = (name: string): JsonObject => ({
      allOf: Array.from({ length: 50 }, () => ({ $ref: `#/components/schemas/${name}` })),
    });
    const levels = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`S${at}`, partsOf(`S${at + 1}`)]));
    const parts = { Self: partsOf('Self'), ...levels, S10: { properties: { a: {} } } };
    const tookMs = cpuMilliseconds(() => {
      for (const name of ['Self', 'S0']) {
        const { fields } = only(withSchema({ $ref: `#/components/schemas/${name}` }, parts));
        assert.deepEqual(Object.keys(fields['properties'] as object), ['body'], name);
      }
    });
    assert.ok(tookMs < 1_000, `${tookMs} ms`);
    const few = only(withSchema({ allOf: [{ properties: { a: {} } }, { allOf: [{ properties: { b: {} } }] }] }));
    assert.deepEqual(Object.keys(few.fields['properties'] as object), ['a', 'b']);
  });

  it('are one field `body` if a part has alternatives or exceeds a limit, so that all of it can be sent', () => {
    const named = { properties: { name: {} } };
    const card = { properties: { card: {} } };
    const bank = { properties: { bank: {} } };
    let deep: JsonObject = card;
    for (let level = 0; level < 11; level += 1) deep = { allOf: [deep] };
    const many = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`p${at}`, {}]));
    for (const part of [
      { oneOf: [card, bank] },
      { anyOf: [card, bank] },
      { allOf: [{ oneOf: [card, bank] }] },
      { type: 'string' },
      { properties: many },
      { allOf: [...Array.from({ length: 50 }, () => bank), card] },
      deep,
    ]) {
      const { fields, body } = only(withSchema({ allOf: [named, part] }));
      assert.deepEqual(Object.keys(fields['properties'] as object), ['body'], JSON.stringify(part).slice(0, 100));
      assert.equal(body?.is_whole, true);
    }
  });

  it('require what a part without properties requires', () => {
    const parts = [{ properties: { name: {}, age: {} } }, { required: ['name'] }, true, { description: 'x' }];
    const { fields } = only(withSchema({ allOf: parts }));
    assert.deepEqual(Object.keys(fields['properties'] as object), ['name', 'age']);
    assert.deepEqual(fields['required'], ['name']);
  });

  it('with more names than a node may store leave out their operation, with a warning', () => {
    const properties = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`${at}`.padEnd(200, 'x'), {}]));
    const { actions, warnings } = read(withSchema({ properties }));
    assert.deepEqual(actions, []);
    assert.deepEqual(warnings, [{ operation: 'POST /', message: 'Its fields have more than 64000 characters.' }]);
  });

  it('of any shape never break the reader', () => {
    const words = fc.constantFrom(
      'openapi',
      'swagger',
      'info',
      'title',
      'paths',
      '/a',
      '/{b}',
      'get',
      'post',
      'parameters',
      '$ref',
      '#/paths',
      '#/components/schemas/A',
      'components',
      'schemas',
      'A',
      'requestBody',
      'content',
      'application/json',
      'schema',
      'properties',
      'allOf',
      'items',
      'name',
      'in',
      'query',
      'path',
      'body',
      'required',
      'servers',
      'url',
      'https://x.example.com',
      '3.0.0',
      '2.0',
      '__proto__',
    );
    const tree = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        words,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 3 }),
        tie('object'),
      ),
      object: fc.dictionary(words, tie('value'), { maxKeys: 5 }),
    }));
    fc.assert(
      fc.property(tree.object, tree.object, (paths, more) => {
        const document = {
          openapi: '3.0.0',
          info: { title: 'x' },
          servers: [{ url: 'https://x.example.com' }],
          paths: { '/a': paths, '/{b}': more },
          components: more,
        };
        try {
          read(document);
        } catch (error) {
          if (!(error instanceof OpenapiError)) throw error;
        }
      }),
      { numRuns: 2000 },
    );
  });
});
