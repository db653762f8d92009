import { z } from 'zod';
import { listCategories } from '../../db/workflows/categories-repository.js';
import { answerPage, envelopeOf, pageQuery, toWindow, type PageQuery } from '../http/pagination.js';
import { queryText } from '../http/query-values.js';
import type { MarketplaceDeps } from './deps.js';
import { routesOf, type Route, type RouteResult } from '../http/route.js';

const defineRoute = routesOf<MarketplaceDeps>();

/** The codes of ISO 639-1. Workflows may use others, such as `pt-BR`. */
const CODES =
  'aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es ' +
  'et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki ' +
  'kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no ' +
  'nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te ' +
  'tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu';

interface Language {
  code: string;
  name: string;
}

const names = new Intl.DisplayNames(['en'], { type: 'language' });

const languages: readonly Language[] = CODES.split(' ')
  .map((code) => ({ code, name: names.of(code) ?? code }))
  .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));

// Lists the categories and languages of workflows, for the forms and filters of a front end.

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
  summary: 'Lists the categories of workflows by name, each before its subcategories.',
  auth: 'open',
  query: z.object(pageQuery(1)),
  responses: { 200: envelopeOf(categorySchema) },
  async handler({ deps, query }) {
    const all = await listCategories(deps.db);
    const shown = all.map((category) => ({ ...category, code: String(category.id) }));
    return answerPart(query, shown);
  },
});

const languageList = defineRoute({
  method: 'GET',
  path: '/api/v1/languages/',
  summary: 'Lists languages by name (ISO 639-1). `search` looks into codes and names.',
  auth: 'open',
  query: z.object({ ...pageQuery(1), search: queryText }),
  responses: { 200: envelopeOf(languageSchema) },
  handler({ query }) {
    const wanted = (query.search ?? '').toLowerCase();
    const found = languages.filter(({ code, name }) => code === wanted || name.toLowerCase().includes(wanted));
    return answerPart(query, found);
  },
});

export const choiceRoutes: Route<MarketplaceDeps>[] = [categories, languageList];

function answerPart(query: PageQuery, all: readonly object[]): RouteResult {
  const { limit, offset } = toWindow(query);
  return answerPage(query, all.length, all.slice(offset, offset + limit));
}
