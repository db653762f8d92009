// Shows services and their actions.
import { z } from 'zod';
import type { ActionFacts } from '../../graph/actions/action.js';
import type { ActionRecord, FactsRecord, ServiceRecord } from '../../db/services/services-repository.js';
import type { CatalogueAction, CatalogueService } from './catalogue.js';

const jsonSchema = z.record(z.string(), z.unknown());

export const serviceSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    source: z.enum(['catalogue', 'project']),
    version: z.string(),
    action_count: z.int(),
    connection_kinds: z.array(z.string()).describe('The kinds of connections that the service accepts'),
    documentation_url: z.url().nullable(),
  })
  .meta({ id: 'Service' });

export const actionSchema = z
  .object({
    id: z.string(),
    title: z.string(),
    description: z.string(),
    method: z.string(),
    path: z.string(),
    server: z
      .string()
      .describe('The address that the path follows; a name in braces is taken from the origin of the connection'),
    has_side_effects: z.boolean(),
    fields: jsonSchema.describe(
      'A JSON Schema of an object. Each property says in `x-in` where its value goes: `path`, `query`, `header`, `body`',
    ),
    result: jsonSchema.nullable().describe('The JSON Schema of the success answer'),
    documentation_url: z.url().nullable(),
  })
  .meta({ id: 'Action' });

export function toProjectService(record: ServiceRecord): z.infer<typeof serviceSchema> {
  const { id, name, description, version, documentationUrl, connectionKinds, actionCount } = record;
  return {
    id,
    name,
    description,
    source: 'project',
    version,
    action_count: actionCount,
    connection_kinds: connectionKinds,
    documentation_url: documentationUrl,
  };
}

export function toCatalogueService(service: CatalogueService): z.infer<typeof serviceSchema> {
  const { id, name, description, version, actions, connection_kinds: kinds, documentation_url: url } = service;
  return {
    id,
    name,
    description,
    source: 'catalogue',
    version,
    action_count: actions.length,
    connection_kinds: kinds,
    documentation_url: url,
  };
}

export function toAction(action: ActionRecord | CatalogueAction): z.infer<typeof actionSchema> {
  const { id, title, description, method, path, server, fields, result } = action;
  return {
    id,
    title,
    description,
    method,
    path,
    server,
    has_side_effects: action.has_side_effects,
    fields,
    result: result ?? null,
    documentation_url: action.documentation_url,
  };
}

/** What a node stores of an action. */
export function toFacts(action: FactsRecord | CatalogueAction): ActionFacts {
  const { title, description, method, server, path, has_side_effects: hasSideEffects, fields } = action;
  const body = (action.body ?? undefined) as ActionFacts['body'];
  const headers = 'headers' in action ? action.headers : undefined;
  return {
    title,
    ...(description !== '' && { description }),
    method,
    server,
    path,
    has_side_effects: hasSideEffects,
    fields,
    ...(body !== undefined && { body }),
    ...(headers !== undefined && { headers }),
  };
}
