// Parses page parameters and builds the `{page, size, total, items}` of lists.
import { z } from 'zod';
import { documentedAs } from './documented-as.js';
import type { RouteResult } from './route.js';

const DEFAULT_SIZE = 10;
const MAX_SIZE = 100;
/** Far beyond any last page, yet its offset is still an exact integer. */
const MAX_PAGE = 10 ** 12;

const integerText = z.string().regex(/^\s*[+-]?\d+\s*$/, 'A valid integer is required.');

/** An integer of a query. A value above the range becomes the maximum; any other wrong value is a 400. */
export function queryInteger(minimum: number, maximum: number) {
  const schema = integerText
    .transform((text) => Math.min(Number(text), maximum))
    .refine((value) => value >= minimum, `Ensure this value is greater than or equal to ${minimum}.`);
  const clamp = maximum <= MAX_SIZE ? { description: `Above ${maximum} it counts as ${maximum}.` } : {};
  return documentedAs(schema, { type: 'integer', minimum, ...clamp });
}

/** The query's `page` and `size`, with `page_size` as a synonym (`size` wins). `minSize` 0 permits `size=0`. */
export function pageQuery(minSize: 0 | 1, maxSize = MAX_SIZE) {
  return {
    page: queryInteger(1, MAX_PAGE).optional(),
    size: queryInteger(minSize, maxSize).optional(),
    page_size: queryInteger(minSize, maxSize).optional(),
  };
}

/** The query of billing, where a size above the range is a 400, too. */
export function strictPageQuery() {
  const size = integerText
    .transform(Number)
    .refine((value) => value >= 1, 'Ensure this value is greater than or equal to 1.')
    .refine((value) => value <= MAX_SIZE, `Ensure this value is less than or equal to ${MAX_SIZE}.`);
  const shown = documentedAs(size, { type: 'integer', minimum: 1, maximum: MAX_SIZE });
  return { page: queryInteger(1, MAX_PAGE).optional(), size: shown.optional(), page_size: shown.optional() };
}

export interface PageQuery {
  page?: number | undefined;
  size?: number | undefined;
  page_size?: number | undefined;
}

export function toWindow({ page = 1, page_size, size = page_size ?? DEFAULT_SIZE }: PageQuery) {
  return { limit: size, offset: (page - 1) * size };
}

export function answerPage(query: PageQuery, total: number, items: unknown): RouteResult {
  const { limit: size } = toWindow(query);
  return { status: 200, body: { page: query.page ?? 1, size, total, items } };
}

export function envelopeOf(item: z.ZodType) {
  return z.object({ page: z.int(), size: z.int(), total: z.int(), items: z.array(item) });
}
