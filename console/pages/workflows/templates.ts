// What a new workflow can begin with: nothing, a workflow that the person has already (the samples, for example), or a
// free one of the marketplace, as one of its examples ran.
import { api, unwrap } from '../../app/api.js';
import { isNotFound } from '../../app/explain.js';
import type { JsonObject } from '../../drawing/json.js';

export interface Template {
  /** Unique, and a value of the combobox. */
  key: string;
  label: string;
  read: () => Promise<JsonObject>;
}

const EMPTY_DRAWING = { nodes: [], edges: [], viewport: { x: 0, y: 0, zoom: 1 } };

export const EMPTY: Template = { key: '', label: 'An empty drawing', read: () => Promise.resolve(EMPTY_DRAWING) };

export async function readTemplates(): Promise<Template[]> {
  const [own, published] = await Promise.all([ownTemplates(), marketplaceTemplates()]);
  return [...published, ...own];
}

async function ownTemplates(): Promise<Template[]> {
  const { items } = await unwrap(api.GET('/api/v1/all-workflows/', { params: { query: { size: 50 } } }));
  return items.map(({ id, title }) => ({
    key: `workflow-${id}`,
    label: `Copy of ${title}`,
    read: async () => (await unwrap(api.GET('/api/v1/workflows/{id}/', { params: { path: { id } } }))).data,
  }));
}

/** Where a fee is asked, the marketplace's own button copies the workflow with its terms. */
async function marketplaceTemplates(): Promise<Template[]> {
  const { items } = await unwrap(api.GET('/api/v1/workflows/marketplace/', { params: { query: { size: 20 } } }));
  const free = items.filter(({ run_fee: fee }) => Number(fee) === 0);
  const found = await Promise.all(
    free.map(async ({ slug, market_title: title }): Promise<Template[]> => {
      const params = { path: { slug } };
      const [example] = await unwrap(api.GET('/api/v1/workflows/marketplace/{slug}/examples/', { params })).catch(
        orNone,
      );
      if (example === undefined) return [];
      const one = { path: { slug, run_id: example.id } };
      const read = async (): Promise<JsonObject> =>
        (await unwrap(api.GET('/api/v1/workflows/marketplace/{slug}/examples/{run_id}/', { params: one }))).data;
      return [{ key: `marketplace-${slug}`, label: `Marketplace: ${title}`, read }];
    }),
  );
  return found.flat();
}

/** What was unpublished a moment ago is no failure of all the others. */
function orNone(error: unknown): [] {
  if (isNotFound(error)) return [];
  throw error;
}
