// Serves the OpenAPI document, and the page that shows it and can send requests.
import { z } from 'zod';
import { readDocsFile } from './docs-page.js';
import { notFound } from './errors.js';
import { RawJson } from './json-text.js';
import { createOpenApiDocument } from './openapi/document.js';
import { routesOf, type Route, type RouteDeclaration } from './route.js';

const defineRoute = routesOf();

/** `routes` is called at the first request for the document, when all routes are known. */
export function createDocumentationRoutes(routes: () => RouteDeclaration[]): Route[] {
  let text: string | undefined;
  const document = defineRoute({
    method: 'GET',
    path: '/api/v1/openapi.json/',
    summary: 'Returns this interface as an OpenAPI 3.1 document.',
    auth: 'open',
    responses: { 200: z.looseObject({ openapi: z.string() }) },
    handler() {
      text ??= JSON.stringify(createOpenApiDocument(routes()));
      return { status: 200, body: new RawJson(text), headers: { 'Cache-Control': 'no-cache' } };
    },
  });
  return [document, page, pageFile];
}

const page = defineRoute({
  method: 'GET',
  path: '/docs/',
  summary: 'Returns the page on which to read this interface and try it.',
  auth: 'open',
  responses: { 200: z.string() },
  mediaTypes: { 200: ['text/html'] },
  handler: () => ({ status: 200, ...readDocsFile('page.html')! }),
});

const pageFile = defineRoute({
  method: 'GET',
  path: '/docs/:file/',
  summary: 'Returns a script, style or picture of the page.',
  auth: 'open',
  quiet: true,
  params: z.object({ file: z.string() }),
  responses: { 200: z.string() },
  mediaTypes: { 200: ['text/javascript', 'text/css', 'image/png'] },
  handler({ params }) {
    const file = params.file === 'page.html' ? undefined : readDocsFile(params.file);
    if (file === undefined) throw notFound();
    return { status: 200, ...file };
  },
});
