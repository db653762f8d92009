// OpenAPI documents, read in separate processes with the limits that the API sets.
import assert from 'node:assert/strict';
import { createProcesses, OPENAPI_LIMITS, type Processes } from '../../processes/processes.js';
import type { OpenapiReply } from '../../processes/read-openapi.js';

const ENTRY = new URL('../../dist/processes/host.js', import.meta.url);
const WITHIN_MS = 10_000;
const ok = { responses: { 200: { description: 'ok' } } };

function documentOf(paths: object, more: object = {}): object {
  const servers = [{ url: 'https://api.example.com' }];
  return { openapi: '3.0.0', info: { title: 'Things', version: '1' }, servers, paths, ...more };
}

describe('OpenAPI documents in their process', function () {
  this.timeout(120_000);
  let processes: Processes;

  before(() => (processes = createProcesses(ENTRY, OPENAPI_LIMITS)));
  after(() => processes.close());

  async function read(text: string, isBody = true): Promise<OpenapiReply | undefined> {
    const work = {
      kind: 'openapi',
      bytes: Buffer.from(text),
      isBody,
      addressRules: { allowPrivateNetwork: false },
    } as const;
    const options = { owner: 1, signal: new AbortController().signal, limitMs: 6 * WITHIN_MS };
    return (await processes.run(work, options)) as OpenapiReply | undefined;
  }

  async function refusalOf(text: string): Promise<[string, string]> {
    const reply = await read(text);
    assert.equal(reply?.kind, 'openapi-refused', JSON.stringify(reply)?.slice(0, 500));
    return reply?.kind === 'openapi-refused' ? [reply.field, reply.message] : ['', ''];
  }

  async function actionsOf(openapi: unknown, more: object = {}): Promise<{ id: string; position: number }[]> {
    const reply = await read(JSON.stringify({ openapi, ...more }));
    assert.equal(reply?.kind, 'openapi-service', JSON.stringify(reply)?.slice(0, 500));
    return reply?.kind === 'openapi-service' ? reply.lists.flatMap((list) => JSON.parse(list) as []) : [];
  }

  it('are an object, a text in JSON, or a text in YAML', async () => {
    const document = documentOf({ '/a': { get: { operationId: 'a', ...ok } } });
    const yaml = [
      'openapi: 3.1.0',
      'info: {title: Things, version: 1.0}',
      'servers:',
      '  - url: https://api.example.com',
      'paths:',
      '  /a:',
      '    get:',
      '      operationId: a',
      '      responses:',
      '        200: {description: "2026-01-01"}',
    ].join('\n');
    for (const openapi of [document, JSON.stringify(document), yaml]) {
      const actions = await actionsOf(openapi);
      assert.deepEqual(
        actions.map(({ id, position }) => [id, position]),
        [['a', 0]],
      );
    }
  });

  it('in a body that is wrong are refused with the field', async () => {
    const document = documentOf({});
    const refused: [string, string, RegExp][] = [
      ['{"openapi": ', 'body', /not valid JSON/],
      ['[]', 'body', /not a JSON object/],
      ['', 'openapi', /required/],
      ['{"openapi": null}', 'openapi', /may not be null/],
      ['{"openapi": 7}', 'openapi', /Expected a document/],
      ['{"openapi": "  "}', 'openapi', /may not be blank/],
      [JSON.stringify({ openapi: '{"openapi": "3.0.0", ' }), 'openapi', /not valid JSON/],
      [JSON.stringify({ openapi: 'a: b\n c: [' }), 'openapi', /not valid YAML: look at line \d/],
      [JSON.stringify({ openapi: document, name: 7 }), 'name', /valid string/],
      [JSON.stringify({ openapi: document, name: 'x'.repeat(201) }), 'name', /200 characters/],
      [JSON.stringify({ openapi: document, server_url: 'nowhere' }), 'server_url', /valid URL/],
      [JSON.stringify({ openapi: document, server_url: 'http://example.com' }), 'server_url', /not https/],
      [JSON.stringify({ openapi: document, server_url: 'https://a:b@example.com' }), 'server_url', /user name/],
    ];
    for (const [text, field, message] of refused) {
      const [at, why] = await refusalOf(text);
      assert.equal(at, field, text.slice(0, 200));
      assert.match(why, message);
    }
  });

  it('go to public addresses alone, which concerns the document, one operation, or the address that was sent', async () => {
    const at = (url: string) => ({ servers: [{ url }] });
    const inner = [
      'https://10.0.0.7',
      'https://[::1]/',
      'https://0x7f.1',
      'https://169.254.169.254',
      'https://localhost',
    ];
    for (const url of inner) {
      const [field, message] = await refusalOf(JSON.stringify({ openapi: documentOf({ '/a': { get: ok } }, at(url)) }));
      assert.equal(field, 'openapi');
      assert.match(message, /^servers: .*not public/);
      const body = { openapi: documentOf({ '/a': { get: ok } }), server_url: url };
      const [of, why] = await refusalOf(JSON.stringify(body));
      assert.equal(of, 'server_url');
      assert.match(why, /not public/);
    }
    const reply = await read(
      JSON.stringify({ openapi: documentOf({ '/a': { get: ok, post: { ...ok, ...at(inner[0]!) } } }) }),
    );
    assert.equal(reply?.kind, 'openapi-service');
    if (reply?.kind !== 'openapi-service') return;
    assert.equal(reply.actionCount, 1);
    assert.match(reply.service.warnings[0]!.message, /^Its server cannot be used: .*not public/);
  });

  it('lose characters that cannot be stored', async () => {
    const [action] = await actionsOf(documentOf({ '/a': { get: { summary: 'a\0b\ud800', ...ok } } }));
    assert.equal((action as unknown as { title: string }).title, 'a\uFFFDb\uFFFD');
  });

  it('that are hostile end within the limits, and the next one is read', async () => {
    const anchors = Array.from(
      { length: 9 },
      (_, level) => `  x${level + 1}: &a${level + 1} [${Array(9).fill(`*a${level}`).join(', ')}]`,
    );
    const bomb = [
      'openapi: 3.0.0',
      'info: {title: T}',
      'x-bomb:',
      '  x0: &a0 [lol]',
      ...anchors,
      'servers: [{url: https://x.example.com}]',
      'paths: {/a: {get: {responses: {200: {content: {application/json: {schema: *a9}}}}}}}',
    ];
    const started = process.hrtime.bigint();
    assert.equal((await actionsOf(bomb.join('\n'))).length, 1);
    const aliases = ['openapi: 3.0.0', 'x: &a {b: c}', 'y:', ...Array.from({ length: 20_000 }, () => '- *a')];
    assert.match((await refusalOf(JSON.stringify({ openapi: aliases.join('\n') })))[1], /not valid YAML/);
    const levels = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    assert.match((await refusalOf(JSON.stringify({ openapi: `x: ${levels}` })))[1], /not valid YAML/);
    assert.match((await refusalOf(`{"openapi": {"x": ${levels}}}`))[1], /openapi: the version/);
    let deep = '{"type": "string"}';
    for (let level = 0; level < 1000; level += 1) deep = `{"type": "object", "properties": {"in": ${deep}}}`;
    const body = { requestBody: { content: { 'application/json': { schema: JSON.parse(deep) as object } } }, ...ok };
    assert.equal((await actionsOf(documentOf({ '/a': { post: body } }))).length, 1);
    const self = [
      'openapi: 3.0.0',
      'info: &i {title: T, again: *i}',
      'servers: [{url: https://x.example.com}]',
      'paths: &p {/a: {get: *p}}',
    ];
    await read(JSON.stringify({ openapi: self.join('\n') }));
    const paths = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`/p${index}`, { get: ok }]));
    assert.match((await refusalOf(JSON.stringify({ openapi: documentOf(paths) })))[1], /20000 operations/);
    assert.ok(Number(process.hrtime.bigint() - started) / 1e6 < 10 * WITHIN_MS);
    assert.equal((await actionsOf(documentOf({ '/a': { get: ok } }))).length, 1);
  });

  it('whose actions are much larger than the document are refused', async () => {
    const description = 'd'.repeat(500);
    const properties = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`p${at}`, { description }]));
    const content = { 'application/json': { schema: { properties } } };
    const parts = { components: { schemas: {}, items: { post: { requestBody: { content }, ...ok } } } };
    const pathsOf = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`/p${at}`, { $ref: '#/components/items' }]));
    assert.equal((await actionsOf(documentOf(pathsOf(100), parts))).length, 100);
    const [field, message] = await refusalOf(JSON.stringify({ openapi: documentOf(pathsOf(500), parts) }));
    assert.equal(field, 'openapi');
    assert.match(message, /^paths: the actions of the document have more than \d+ characters together\.$/);
  });

  it('that take too much memory end with their process, and the next one is read', async () => {
    const many = `{"openapi": {"openapi": "3.0.0", "x": [${Array(9_000_000).fill('{}').join(',')}]}}`;
    assert.equal(await read(many), undefined);
    assert.equal((await actionsOf(documentOf({ '/a': { get: ok } }))).length, 1);
  });

  it('that are larger than 20 MiB are refused', async () => {
    const large = 'x'.repeat(21 * 1024 * 1024);
    assert.match(
      (await refusalOf(JSON.stringify({ openapi: `openapi: 3.0.0\n# ${large}` })))[1],
      /larger than 20971520/,
    );
    assert.match(
      (await refusalOf(JSON.stringify({ openapi: { openapi: '3.0.0', large } })))[1],
      /larger than 20971520/,
    );
  });
});
