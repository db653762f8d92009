import assert from 'node:assert/strict';
import fc from 'fast-check';
import { serverFor, type ActionFacts } from '../../../graph/actions/action.js';
import { renderAction } from '../../../graph/actions/render-request.js';
import type { JsonObject } from '../../../graph/json.js';
import { NodeError } from '../../../graph/node-error.js';

interface Made extends Partial<Omit<ActionFacts, 'fields'>> {
  fields?: Record<string, JsonObject>;
  required?: string[];
}

function action({ fields = {}, required = [], ...facts }: Made = {}): ActionFacts {
  return {
    title: 'A call',
    method: 'POST',
    server: 'https://api.example.com/v1',
    path: '/things',
    has_side_effects: true,
    fields: { type: 'object', properties: fields, required },
    ...facts,
  };
}

const json = { media_type: 'application/json' };
const inQuery = { 'x-in': 'query' };
const inBody = { 'x-in': 'body' };
const inPath = { 'x-in': 'path' };

function queryOf(field: JsonObject, value: unknown): string {
  return renderAction(action({ fields: { a: { ...inQuery, ...field } } }), { a: value }).url.split('?')[1] ?? '';
}

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof NodeError, String(error));
    return error.code;
  }
  return assert.fail('nothing was thrown');
}

describe('the request of an action', () => {
  it('puts each field in its place, with the headers of the service', () => {
    const facts = action({
      method: 'PATCH',
      path: '/users/{user id}/things/{thing}',
      fields: {
        'user id': inPath,
        thing: inPath,
        limit: inQuery,
        'X-Trace': { 'x-in': 'header' },
        name: inBody,
        name_query: { ...inQuery, 'x-name': 'name' },
      },
      body: json,
      headers: { 'Api-Version': '2026-01-01' },
    });
    const values = { 'user id': 'a/b c', thing: 7, limit: 10, 'X-Trace': 'yes', name: 'Ada', name_query: 'é&' };
    assert.deepEqual(renderAction(facts, values), {
      method: 'PATCH',
      url: 'https://api.example.com/v1/users/a%2Fb%20c/things/7?limit=10&name=%C3%A9%26',
      headers: { 'Api-Version': '2026-01-01', 'X-Trace': 'yes', 'content-type': 'application/json' },
      body: '{"name":"Ada"}',
    });
  });

  it('follows style and explode in the query', () => {
    const list = ['x', 'y z'];
    const object = { k: 'v', n: 1 };
    assert.equal(queryOf({}, list), 'a=x&a=y%20z');
    assert.equal(queryOf({ 'x-explode': false }, list), 'a=x,y%20z');
    assert.equal(queryOf({ 'x-style': 'spaceDelimited' }, list), 'a=x%20y%20z');
    assert.equal(queryOf({ 'x-style': 'pipeDelimited' }, list), 'a=x|y%20z');
    assert.equal(queryOf({ 'x-style': 'pipeDelimited', 'x-explode': true }, list), 'a=x&a=y%20z');
    assert.equal(queryOf({}, object), 'k=v&n=1');
    assert.equal(queryOf({ 'x-explode': false }, object), 'a=k,v,n,1');
    assert.equal(
      queryOf({ 'x-style': 'deepObject' }, { k: 'v', in: { deep: [1, 2] } }),
      'a%5Bk%5D=v&a%5Bin%5D%5Bdeep%5D%5B0%5D=1&a%5Bin%5D%5Bdeep%5D%5B1%5D=2',
    );
    assert.equal(queryOf({ 'x-json': true }, object), 'a=%7B%22k%22%3A%22v%22%2C%22n%22%3A1%7D');
    assert.equal(queryOf({}, true), 'a=true');
  });

  it('follows style and explode in the path and in headers', () => {
    const pathOf = (field: JsonObject, value: unknown): string =>
      renderAction(action({ path: '/{a}', fields: { a: { ...inPath, ...field } } }), { a: value }).url.slice(26);
    const list = ['x', 'y'];
    assert.equal(pathOf({}, list), '/x,y');
    assert.equal(pathOf({ 'x-style': 'label' }, list), '/.x.y');
    assert.equal(pathOf({ 'x-style': 'matrix' }, list), '/;a=x,y');
    assert.equal(pathOf({ 'x-style': 'matrix', 'x-explode': true }, list), '/;a=x;a=y');
    assert.equal(pathOf({}, { k: 'v' }), '/k,v');
    assert.equal(pathOf({ 'x-explode': true }, { k: 'v' }), '/k=v');
    // A text is sent as it is, not as JSON, because many documents declare plain parameters as JSON.
    assert.equal(pathOf({ 'x-json': true }, 'x y'), '/x%20y');
    assert.equal(pathOf({ 'x-json': true }, { k: 1 }), '/%7B%22k%22%3A1%7D');
    const header = renderAction(action({ fields: { A: { 'x-in': 'header' } } }), { A: list });
    assert.equal(header.headers['A'], 'x,y');
  });

  it('leaves out what is empty, and sends empty lists and objects in bodies alone', () => {
    const fields = { a: inQuery, b: inQuery, c: inQuery, d: inBody, e: inBody, f: inBody, 'X-H': { 'x-in': 'header' } };
    const rendered = renderAction(action({ fields, body: json }), { a: '', b: null, c: [], d: [], e: {}, f: '' });
    assert.equal(rendered.url, 'https://api.example.com/v1/things');
    assert.equal(rendered.body, '{"d":[],"e":{}}');
    const nothing = renderAction(action({ fields, body: json }), {});
    assert.equal(nothing.body, undefined);
    assert.equal(nothing.headers['content-type'], undefined);
    const required = renderAction(action({ fields, body: { ...json, is_required: true } }), {});
    assert.equal(required.body, '{}');
  });

  it('does not send the defaults of a document', () => {
    const fields = { a: { ...inQuery, default: 5 }, b: { ...inBody, default: 'x' } };
    const rendered = renderAction(action({ fields, body: json }), {});
    assert.deepEqual([rendered.url.includes('?'), rendered.body], [false, undefined]);
  });

  it('writes forms, with nested fields where the document asks for them', () => {
    const form = { media_type: 'application/x-www-form-urlencoded' };
    const fields = {
      text: inBody,
      tags: inBody,
      plain: inBody,
      metadata: { ...inBody, 'x-style': 'deepObject', 'x-explode': true },
    };
    const values = {
      text: 'a b&c',
      tags: ['x', 'y'],
      plain: { k: 1 },
      metadata: { order: '7', items: [{ price: 'p' }] },
    };
    const { body, headers } = renderAction(action({ fields, body: form }), values);
    assert.equal(headers['content-type'], 'application/x-www-form-urlencoded');
    assert.deepEqual(
      [...new URLSearchParams(String(body))],
      [
        ['text', 'a b&c'],
        ['tags', 'x'],
        ['tags', 'y'],
        ['plain', '{"k":1}'],
        ['metadata[order]', '7'],
        ['metadata[items][0][price]', 'p'],
      ],
    );
  });

  it('hands multipart forms and files to what sends files', () => {
    const file = {
      file_id: '3f0a4b0e-1111-4222-8333-123456789abc',
      name: 'a.txt',
      type: 'text/plain',
      size: 1,
      sha256: '',
    };
    const fields = { file: { ...inBody, type: 'string', format: 'binary' }, title: inBody };
    const multipart = renderAction(action({ fields, body: { media_type: 'multipart/form-data' } }), {
      file,
      title: 'T',
    });
    assert.deepEqual(multipart.body, { $form: { file, title: 'T' } });
    assert.equal(multipart.headers['content-type'], undefined);
    const whole = action({
      fields: { body: inBody },
      body: { media_type: 'application/octet-stream', is_whole: true },
    });
    assert.deepEqual(renderAction(whole, { body: file }).body, { $file: file });
    assert.equal(renderAction(whole, { body: file }).headers['content-type'], 'application/octet-stream');
    const wholeForm = action({ fields: { body: inBody }, body: { media_type: 'multipart/form-data', is_whole: true } });
    assert.deepEqual(renderAction(wholeForm, { body: file }).body, { $form: { file } });
    assert.deepEqual(renderAction(wholeForm, { body: { a: file } }).body, { $form: { a: file } });
    const text = action({ fields: { body: inBody }, body: { media_type: 'text/plain', is_whole: true } });
    assert.equal(renderAction(text, { body: 'hello' }).body, 'hello');
  });

  it('sends a whole body of JSON as JSON, text too', () => {
    const whole = action({ fields: { body: inBody }, body: { media_type: 'application/vnd.x+json', is_whole: true } });
    assert.equal(renderAction(whole, { body: 'text' }).body, '"text"');
    assert.equal(renderAction(whole, { body: [1, { a: null }] }).body, '[1,{"a":null}]');
  });

  it('fails with invalid_value before anything is sent', () => {
    const path = action({ path: '/a/{b}/c', fields: { b: inPath }, required: ['b'] });
    for (const b of ['.', '..', '', null, undefined, []]) {
      assert.equal(
        refusal(() => renderAction(path, { b })),
        'invalid_value',
        JSON.stringify(b),
      );
    }
    const two = action({ path: '/{a}{b}', fields: { a: inPath, b: inPath } });
    assert.equal(
      refusal(() => renderAction(two, { a: '.', b: 'x' })),
      'invalid_value',
    );
    const header = action({ fields: { 'X-A': { 'x-in': 'header' } } });
    for (const value of ['a\nb', 'a\r\nX-B: c', 'a\n', ['a', 'b\r']]) {
      assert.equal(
        refusal(() => renderAction(header, { 'X-A': value })),
        'invalid_value',
        JSON.stringify(value),
      );
    }
    const required = action({ fields: { q: inQuery, b: inBody }, required: ['q', 'b'], body: json });
    assert.equal(
      refusal(() => renderAction(required, { q: 'x', b: '' })),
      'invalid_value',
    );
    assert.equal(
      refusal(() => renderAction(required, { b: 'x' })),
      'invalid_value',
    );
  });

  it('takes the host of an account from the connection, and from nowhere else', () => {
    const facts = action({ server: 'https://{shop}.myshopify.com/admin', path: '/shop.json' });
    assert.equal(
      serverFor(facts, ['https://other.example.com', 'https://mine.myshopify.com']),
      'https://mine.myshopify.com/admin',
    );
    for (const origin of [
      'https://evil.com/.myshopify.com',
      'https://*.myshopify.com',
      'https://a.b.myshopify.com',
      'http://mine.myshopify.com',
      'https://mine.myshopify.com.evil.com',
    ]) {
      assert.equal(serverFor(facts, [origin]), undefined, origin);
    }
    assert.equal(serverFor(action(), []), 'https://api.example.com/v1');
  });

  it('goes to the origin of its service and below its path, whatever the values are', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('../..', '//evil.com', '@evil.com', '\\', '?', '#', '%2e%2e'),
    );
    const value = fc.oneof(
      text,
      fc.integer(),
      fc.array(text, { maxLength: 3 }),
      fc.dictionary(text, text, { maxKeys: 3 }),
    );
    const styles = fc.constantFrom('simple', 'label', 'matrix');
    fc.assert(
      fc.property(value, value, styles, fc.boolean(), (a, b, style, explode) => {
        const facts = action({
          path: '/users/{a}/end',
          fields: { a: { ...inPath, 'x-style': style, 'x-explode': explode }, b: inQuery },
        });
        let url: URL;
        try {
          url = new URL(renderAction(facts, { a, b }).url);
        } catch (error) {
          if (error instanceof NodeError && error.code === 'invalid_value') return;
          throw error;
        }
        assert.equal(url.origin, 'https://api.example.com');
        assert.match(url.pathname, /^\/v1\/users\/[^/]+\/end$/);
        assert.equal(url.hash, '');
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps every text of the query and of a form, as a reader decodes it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        const fields = { q: inQuery, f: inBody };
        const facts = action({ fields, body: { media_type: 'application/x-www-form-urlencoded' } });
        const { url, body } = renderAction(facts, { q: text, f: text });
        assert.equal(new URL(url).searchParams.get('q'), text);
        assert.equal(new URLSearchParams(String(body)).get('f'), text);
      }),
    );
  });
});
