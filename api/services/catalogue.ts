// The services that every project can use. Each is a JSON file in `catalogue/` with its actions and the pages that
// document them.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { CONNECTION_KINDS } from '../../connections/kinds.js';
import { wordsOf } from '../../db/services/services-repository.js';
import type { JsonObject } from '../../graph/json.js';

const address = z.string().regex(/^https:\/\//);
const fieldsSchema = z.strictObject({
  type: z.literal('object'),
  properties: z.record(
    z.string(),
    z.looseObject({
      'x-in': z.enum(['path', 'query', 'header', 'body']),
      'x-name': z.string().optional(),
      'x-style': z.enum(['simple', 'form', 'deepObject', 'spaceDelimited', 'pipeDelimited']).optional(),
      'x-explode': z.boolean().optional(),
      'x-json': z.boolean().optional(),
    }),
  ),
  required: z.array(z.string()),
});
const bodySchema = z.strictObject({
  media_type: z.string(),
  is_whole: z.boolean().optional(),
  is_required: z.boolean().optional(),
});

const actionFile = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9_.-]{1,200}$/),
  title: z.string().min(1).max(200),
  description: z.string().max(1024),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: z.string().startsWith('/'),
  server: address.optional().describe("Where it differs from the service's"),
  has_side_effects: z.boolean(),
  fields: fieldsSchema,
  body: bodySchema.optional(),
  documentation_url: address,
});

const serviceFile = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]{1,60}$/),
  name: z.string().min(1),
  description: z.string().min(1).max(1024),
  version: z.string(),
  server: address,
  headers: z.record(z.string(), z.string()).optional(),
  connection_kinds: z.array(z.enum(CONNECTION_KINDS)).min(1),
  documentation_url: address,
  source: address.describe('The reference that states the facts'),
  checked: z.iso.date(),
  actions: z.array(actionFile).min(1),
});

export type CatalogueAction = Omit<z.infer<typeof actionFile>, 'fields'> & {
  server: string;
  fields: JsonObject;
  result: null;
  headers?: Record<string, string>;
};

export type CatalogueService = Omit<z.infer<typeof serviceFile>, 'actions'> & { actions: CatalogueAction[] };

const FOLDER = path.join(import.meta.dirname, 'catalogue');

function readService(file: string): CatalogueService {
  const service = serviceFile.parse(JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8')));
  const { server, headers } = service;
  const actions = service.actions.map((action) => ({
    ...action,
    server: action.server ?? server,
    result: null,
    ...(headers !== undefined && { headers }),
  }));
  return { ...service, actions };
}

/** The services in the order of their names. */
export const catalogue: readonly CatalogueService[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map(readService)
  .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));

const byId = new Map(catalogue.map((service) => [service.id, service]));

export function findCatalogueService(id: string): CatalogueService | undefined {
  return byId.get(id);
}

export function findCatalogueAction(service: string, id: string): CatalogueAction | undefined {
  return byId.get(service)?.actions.find((action) => action.id === id);
}

/**
 * Returns the services whose id, name and description together contain each word, or whose name and the title of one
 * action together do.
 */
export function searchCatalogue(search: string | undefined): readonly CatalogueService[] {
  if (search === undefined) return catalogue;
  const hasAll = finderOf(search);
  return catalogue.filter(
    ({ id, name, description, actions }) =>
      hasAll(id, name, description) || actions.some(({ title }) => hasAll(name, title)),
  );
}

/** Returns the actions of a service whose id, title, path and description together contain each word. */
export function searchActions({ actions }: CatalogueService, search: string | undefined): CatalogueAction[] {
  if (search === undefined) return actions;
  const hasAll = finderOf(search);
  return actions.filter(({ id, title, path: place, description }) => hasAll(id, title, place, description));
}

function finderOf(search: string): (...texts: string[]) => boolean {
  const wanted = wordsOf(search.toLowerCase());
  return (...texts) => {
    const text = texts.join(' ').toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
}
