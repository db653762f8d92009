// What workflows are sorted into, for the forms and filters of a front end.
import { z } from 'zod';
import { listCategories } from '../../db/workflows/categories-repository.js';
import { badRequestSchema } from '../http/answer-schemas.js';
import { envelopeOf, pageQuery, toPage, toWindow, type Page } from '../http/pagination.js';
import { queryText } from '../http/query-values.js';
import { defineRoute, type Route, type RouteResult } from '../http/route.js';
import { languages } from './languages.js';

const categorySchema = z.object({
  id: z.int(),
  code: z.string().describe('The id as text: what a filter takes.'),
  name: z.string(),
  parent: z.int().nullable().describe('The category of a subcategory; null for a category.'),
});

const languageSchema = z.object({
  code: z.string().describe('What a filter and `available_languages` take.'),
  name: z.string().describe('In English.'),
});

const categories = defineRoute({
  method: 'GET',
  path: '/api/v1/categories/',
  summary: 'The categories of workflows, each before its subcategories, by name.',
  auth: 'open',
  query: z.object(pageQuery(1)),
  responses: { 200: envelopeOf(categorySchema), 400: badRequestSchema },
  async handler({ deps, query }) {
    const all = await listCategories(deps.db);
    return answerPage(
      all.map((category) => ({ ...category, code: String(category.id) })),
      toPage(query),
    );
  },
});

const languageList = defineRoute({
  method: 'GET',
  path: '/api/v1/languages/',
  summary: 'Languages by name (ISO 639-1). `search` looks into codes and names.',
  auth: 'open',
  query: z.object({ ...pageQuery(1), search: queryText }),
  responses: { 200: envelopeOf(languageSchema), 400: badRequestSchema },
  handler({ query }) {
    const wanted = (query.search ?? '').toLowerCase();
    const found = languages.filter(({ code, name }) => code === wanted || name.toLowerCase().includes(wanted));
    return answerPage(found, toPage(query));
  },
});

export const choiceRoutes: Route[] = [categories, languageList];

function answerPage(all: readonly object[], page: Page): RouteResult {
  const { limit, offset } = toWindow(page);
  return { status: 200, body: { ...page, total: all.length, items: all.slice(offset, offset + limit) } };
}
