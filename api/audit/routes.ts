// Lists of audit records (docs/operate/audit.md).
import { z } from 'zod';
import { AUDIT_ACTIONS } from '../../db/audit/subjects.js';
import { listAuditRecords, type AuditQuery, type AuditRecord } from '../../db/audit/audit-list-repository.js';
import type { AuditDeps } from './deps.js';
import { answerPage, envelopeOf, pageQuery, queryInteger, toWindow } from '../http/pagination.js';
import { MAX_ID } from '../http/path-ids.js';
import { queryMoment, queryMomentEnd } from '../http/query-values.js';
import { routesOf, type Route, type RouteResult } from '../http/route.js';

const defineRoute = routesOf<AuditDeps>();

const idSchema = z.union([z.int(), z.string()]);

const recordSchema = z.object({
  id: z.int(),
  at: z.iso.datetime(),
  project: z.int().nullable().describe('Null: it belongs to no project'),
  action: z.enum(AUDIT_ACTIONS),
  outcome: z.enum(['success', 'refused']),
  actor: z
    .object({ id: z.int(), name: z.string() })
    .nullable()
    .describe('With the name of that time; null where nobody is known, or the service itself has done it'),
  via: z.enum(['session', 'key', 'link', 'hook', 'callback', 'schedule', 'mcp', 'system']),
  client: z.string().nullable().describe('Of `mcp`: the name of the assistant, as it has given it'),
  key_id: z.int().nullable(),
  address: z.string().nullable().describe('Of the client'),
  target: z.object({ type: z.string(), id: idSchema, name: z.string() }).nullable(),
  changes: z
    .record(z.string(), z.tuple([z.unknown(), z.unknown()]))
    .describe('`{field: [before, after]}`, secrets as ********, of a drawing its versions; long texts are cut'),
  count: z.int().describe('How many refusals the record stands for'),
  hash: z
    .string()
    .nullable()
    .describe('SHA-256 in hexadecimal digits; null until the record is chained, 10 seconds at most'),
});

const query = z.object({
  ...pageQuery(1),
  action: z.enum(AUDIT_ACTIONS).optional(),
  user: queryInteger(0, MAX_ID).optional(),
  from: queryMoment.optional(),
  to: queryMomentEnd.optional(),
});

const FILTERS = '`user` is who has acted. `from` is included; `to` is not, unless it is a day.';

const listOfProject = defineRoute({
  method: 'GET',
  path: '/api/v1/projects/:id/audit/',
  summary: 'Lists what was changed in a project, by whom and from where, and what was refused; newest first.',
  description: FILTERS,
  access: { to: 'project', role: 'admin' },
  query,
  responses: { 200: envelopeOf(recordSchema) },
  handler: ({ deps, params, query: wanted }) => answerRecords(deps, wanted, { projectId: params.id }),
});

const listOfAll = defineRoute({
  method: 'GET',
  path: '/api/v1/audit/',
  summary: 'Lists the changes and refusals of all projects and of what belongs to none, for administrators.',
  description: FILTERS,
  isForAdministrators: true,
  query,
  responses: { 200: envelopeOf(recordSchema) },
  handler: ({ deps, query: wanted }) => answerRecords(deps, wanted, {}),
});

export const auditRoutes: Route<AuditDeps>[] = [listOfProject, listOfAll];

async function answerRecords(
  { db }: AuditDeps,
  wanted: z.infer<typeof query>,
  of: Pick<AuditQuery, 'projectId'>,
): Promise<RouteResult> {
  const { action, user: userId, from, to: until } = wanted;
  const { total, records } = await listAuditRecords(db, { ...of, action, userId, from, until, ...toWindow(wanted) });
  return answerPage(wanted, total, records.map(toRecord));
}

function toRecord(record: AuditRecord): z.infer<typeof recordSchema> {
  const { actorId, actorName, targetType: type, targetId, targetName } = record;
  const { via, client } = readVia(record.via);
  return {
    id: record.id,
    at: record.at.toISOString(),
    project: record.projectId,
    action: record.action,
    outcome: record.outcome,
    actor: actorId === null ? null : { id: actorId, name: actorName ?? '' },
    via,
    client,
    key_id: record.keyId,
    address: record.address,
    target: type === null || targetId === null ? null : { type, id: toId(targetId), name: targetName ?? '' },
    changes: record.changes,
    count: record.count,
    hash: record.hash?.toString('hex') ?? null,
  };
}

function readVia(stored: AuditRecord['via']): Pick<z.infer<typeof recordSchema>, 'via' | 'client'> {
  return isOfAssistant(stored) ? { via: 'mcp', client: stored.slice('mcp:'.length) } : { via: stored, client: null };
}

function isOfAssistant(via: AuditRecord['via']): via is `mcp:${string}` {
  return via.startsWith('mcp:');
}

/** Returns numeric ids as numbers, like the rest of the API. */
function toId(text: string): number | string {
  return /^\d{1,10}$/.test(text) ? Number(text) : text;
}
