import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { allAnswers } from '../../../api/http/openapi/common-answers.js';
import { createOpenApiDocument } from '../../../api/http/openapi/document.js';
import { routesOf } from '../../../api/http/route.js';
import { routes } from '../../../api/app.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { createAccount, type Account } from '../accounts.js';
import { createAnswerCheck, createValidator, operationsOf, type OpenApiDocument } from '../openapi-document.js';

/**
 * The schema of the OpenAPI Initiative (Apache-2.0), with its `$dynamicRef`s replaced by the `$ref`s that ajv resolves.
 */
/** Short lists, which are answered as a whole. */
const WHOLE_LISTS = [
  'GET /api/v1/auth/providers/',
  'GET /api/v1/connection-presets/',
  'GET /api/v1/models/',
  'GET /api/v1/pools/',
  'GET /api/v1/projects/{id}/tags/',
  'GET /api/v1/usage/',
  'GET /api/v1/workflows/get_nodes/',
  'GET /api/v1/workflows/marketplace/{slug}/examples/',
  'GET /api/v1/workflows/workflow_run/{workflow_run_id}/agent-approval/',
  'GET /api/v1/workflows/{id}/input-fields/',
  'GET /api/v1/workflows/{id}/pins/',
  'POST /api/v1/workflows/mcp-tools/',
];
const META_SCHEMA = path.join(import.meta.dirname, '../../support/openapi-3.1-schema.json');

describe('the OpenAPI document', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let document: OpenApiDocument;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    const response = await fetch(`${stack.apiUrl}/api/v1/openapi.json`);
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    document = (await response.json()) as OpenApiDocument;
  });

  describe('by the standard', () => {
    it('is valid OpenAPI 3.1, every schema in it valid JSON Schema 2020-12', () => {
      const meta = createValidator();
      const validate = meta.compile(JSON.parse(readFileSync(META_SCHEMA, 'utf8')) as object);
      assert.ok(validate(document), meta.errorsText(validate.errors));
      const schemas = createValidator();
      for (const [name, schema] of Object.entries(document.components.schemas)) {
        assert.ok(schemas.validateSchema(schema), `${name}: ${schemas.errorsText()}`);
      }
      for (const { name, operation } of operationsOf(document)) {
        const contents = [operation.requestBody ?? {}, ...Object.values(operation.responses)].flatMap(
          (part: { content?: Record<string, { schema: object }> }) => Object.values(part.content ?? {}),
        );
        for (const { schema } of contents)
          assert.ok(schemas.validateSchema(schema), `${name}: ${schemas.errorsText()}`);
      }
    });

    it('every reference resolves, every operation has a name of its own, every path parameter is described', () => {
      const references = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g);
      for (const [, pointer = ''] of references) {
        const target = pointer
          .split('/')
          .reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], document);
        assert.notEqual(target, undefined, pointer);
      }
      const operations = operationsOf(document);
      const ids = operations.map(({ operation }) => operation.operationId);
      assert.equal(new Set(ids).size, ids.length);
      for (const { name, operation } of operations) {
        const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter);
        const described =
          operation.parameters?.filter(({ in: place }) => place === 'path').map((one) => one.name) ?? [];
        assert.deepEqual(described.toSorted(), inPath.toSorted(), name);
      }
    });
  });

  describe('from the routes', () => {
    it('an upload is described as a form with the file, or as the bytes of the file', () => {
      const upload = operationsOf(document).find(({ name }) => name === 'POST /api/v1/projects/{id}/files/');
      const file = { type: 'string', format: 'binary' };
      const { content } = upload!.operation.requestBody as { content: Record<string, unknown> };
      assert.deepEqual(content, {
        'multipart/form-data': { schema: { type: 'object', properties: { file }, required: ['file'] } },
        'application/octet-stream': { schema: file },
      });
    });

    it('every route of the service is in it, under a group that is listed', () => {
      const declared = routes.map(({ method, path: of }) => `${method} ${of.replaceAll(/:(\w+)/g, '{$1}')}`);
      const operations = operationsOf(document);
      assert.deepEqual(operations.map(({ name }) => name).toSorted(), declared.toSorted());
      const groups = document.tags.map(({ name }) => name);
      for (const { name, operation } of operations) assert.ok(groups.includes(operation.tags[0] ?? ''), name);
    });

    it('every route has a summary and says what it answers, in success and in each failure', () => {
      for (const route of routes) {
        const name = `${route.method} ${route.path}`;
        assert.match(
          route.summary,
          /^[A-Z][a-z]+s,? .+\.$/,
          `${name} needs a summary that begins with a verb, as "Lists"`,
        );
        const statuses = Object.keys(route.responses).map(Number);
        assert.ok(
          statuses.some((status) => status < 400),
          `${name} declares no success`,
        );
        for (const [status, schema] of allAnswers(route)) {
          const isEmpty = schema instanceof z.ZodNull;
          // MCP requires that a notification is answered with 202 and no body.
          const hasNoBody = [204, 302, 303, 304].includes(status) || (status === 202 && route.path.startsWith('/mcp/'));
          assert.equal(isEmpty, hasNoBody, `${name} ${status}: only 204 and redirects have no body`);
          assert.ok(!(schema instanceof z.ZodUnknown || schema instanceof z.ZodAny), `${name} ${status} says nothing`);
        }
      }
    });

    it('a 409 is described by a text that is true of what has ended, of what has changed and of what is in use', () => {
      const text =
        'The request conflicts with the present state of what it concerns, which may have ended, have changed or be in use.';
      const described = operationsOf(document).flatMap(
        ({ operation }) => operation.responses['409']?.description ?? [],
      );
      assert.deepEqual([...new Set(described)], [text]);
    });

    it('the paths of the specification and the prefixes of its version are there', () => {
      for (const { name, operation } of operationsOf(document)) {
        const isOurs = /^\w+ \/(api\/v1|v1|mcp)\//.test(name);
        assert.equal(isOurs, operation.tags[0] !== 'Service' || name.includes('openapi.json'), name);
      }
      assert.ok(document.paths['/v1/chat/completions/']?.['post']);
    });

    it('the error answers of a route follow from what it requires: key, body, path and limit', () => {
      const create = document.paths['/api/v1/workflows/']?.['post'];
      assert.deepEqual(Object.keys(create?.responses ?? {}), [
        '201',
        '400',
        '401',
        '403',
        '413',
        '415',
        '429',
        '431',
        '500',
        '503',
      ]);
      assert.deepEqual(create?.security, [{ ApiKey: [] }, { SessionToken: [] }]);
      assert.deepEqual(document.paths['/healthz']?.['get']?.security, []);
      const size = document.paths['/api/v1/projects/']?.['get']?.parameters?.find(({ name }) => name === 'size');
      assert.deepEqual([size?.required, size?.schema], [false, { type: 'integer', minimum: 0 }]);
    });

    it('every list that is not in WHOLE_LISTS takes page and size and answers the pagination envelope', () => {
      const lists = operationsOf(document).filter(({ operation }) => {
        const takesPage = operation.parameters?.some(({ name, in: place }) => place === 'query' && name === 'page');
        const answer: { type?: string; properties?: { items?: { type?: string } } } | undefined =
          operation.responses['200']?.content?.['application/json']?.schema;
        return takesPage === true || answer?.type === 'array' || answer?.properties?.items?.type === 'array';
      });
      const whole = lists.filter(({ name }) => WHOLE_LISTS.includes(name));
      assert.deepEqual(whole.map(({ name }) => name).toSorted(), WHOLE_LISTS.toSorted());
      const paged = lists.filter((list) => !whole.includes(list));
      assert.ok(paged.length >= 30, `${paged.length} lists`);
      for (const { name, operation } of paged) {
        const queries = operation.parameters?.map((parameter) => parameter.name) ?? [];
        assert.ok(queries.includes('page') && queries.includes('size'), name);
        const envelope = operation.responses['200']?.content?.['application/json']?.schema as {
          properties: Record<string, { type: string }>;
          required: string[];
        };
        const types = Object.entries(envelope.properties).map(([field, { type }]) => `${field} ${type}`);
        assert.deepEqual(types, ['page integer', 'size integer', 'total integer', 'items array'], name);
        assert.deepEqual(envelope.required, ['page', 'size', 'total', 'items'], name);
      }
    });

    it('a new route appears by being declared', () => {
      const route = routesOf()({
        method: 'GET',
        path: '/api/v1/new-things/:id/',
        summary: 'Returns one new thing.',
        auth: 'key',
        params: z.object({ id: z.string() }),
        headers: z.object({ 'idempotency-key': z.string().optional() }),
        responses: { 200: z.object({ id: z.string() }) },
        handler: ({ params }) => ({ status: 200, body: params }),
      });
      const { paths, tags } = createOpenApiDocument([route]);
      assert.deepEqual(tags, [{ name: 'New things' }]);
      const operation = paths['/api/v1/new-things/{id}/']?.['get'];
      const parameters = operation?.parameters as { name: string; in: string }[];
      assert.deepEqual(
        parameters.map((one) => `${one.in} ${one.name}`),
        ['path id', 'header Idempotency-Key'],
      );
      assert.deepEqual(Object.keys(operation?.responses ?? {}), [
        '200',
        '400',
        '401',
        '403',
        '404',
        '429',
        '431',
        '500',
        '503',
      ]);
    });
  });

  describe('as the service answers', () => {
    it('answers of every kind have the shape that the document gives them', async () => {
      const check = createAnswerCheck(document);
      const { api } = account;
      const project = await api.createProject();
      const workflow = await api.createWorkflow(project, chain(1));
      const { data: run } = await api.run(workflow);
      await api.pollToEnd(run.id);
      const cases: [method: 'get' | 'post' | 'patch', described: string, path: string, body?: unknown][] = [
        ['get', '/projects/', '/projects/'],
        ['get', '/projects/', '/projects/?size=x'],
        ['post', '/projects/', '/projects/', { name: 'x' }],
        ['post', '/projects/', '/projects/', {}],
        ['get', '/projects/{id}/', `/projects/${project}/`],
        ['get', '/projects/{id}/', '/projects/2147483647/'],
        ['patch', '/projects/{id}/', `/projects/${project}/`, { name: 'y' }],
        ['get', '/workflows/', '/workflows/'],
        ['post', '/workflows/', '/workflows/', { project, title: 't', data: { unknown: [1] } }],
        ['get', '/workflows/{id}/', `/workflows/${workflow}/`],
        ['get', '/workflows/{id}/check_workflow/', `/workflows/${workflow}/check_workflow/`],
        ['get', '/workflows/{id}/input-fields/', `/workflows/${workflow}/input-fields/`],
        ['get', '/workflows/get_nodes/', '/workflows/get_nodes/'],
        ['post', '/workflows/{id}/run/', `/workflows/${workflow}/run/`, { any: 1 }],
        ['get', '/workflows/workflow_result/', `/workflows/workflow_result/?id=${run.id}`],
        ['get', '/workflows/workflow_result/', '/workflows/workflow_result/'],
        ['get', '/workflows/{id}/history/', `/workflows/${workflow}/history/`],
        ['get', '/workflows/{id}/history/{run_id}/', `/workflows/${workflow}/history/${run.id}/`],
        ['post', '/workflows/{id}/history/{run_id}/cancel/', `/workflows/${workflow}/history/${run.id}/cancel/`],
      ];
      for (const [method, described, at, body] of cases) {
        const answer = await api[method](at, body === undefined ? {} : { body });
        assert.equal(check(method.toUpperCase(), `/api/v1${described}`, answer.status, answer.body), undefined);
      }
      const refused = await fetch(`${stack.apiUrl}/v1/chat/completions`, { method: 'POST' });
      assert.equal(check('POST', '/v1/chat/completions/', refused.status, await refused.json()), undefined);
      const unknown = await fetch(`${stack.apiUrl}/api/v1/projects/`);
      assert.equal(check('GET', '/api/v1/projects/', unknown.status, await unknown.json()), undefined);
    });
  });
});
