// The versions of a workflow's drawing (docs/use/api.md, "Versions, and two people at once").
import { z } from 'zod';
import {
  findStoredDrawing,
  findVersion,
  listVersions,
  type DrawingVersion,
} from '../../db/workflows/versions-repository.js';
import { updateWorkflow } from '../../db/workflows/workflows-repository.js';
import { detailSchema } from '../http/answer-schemas.js';
import { notFound, orNotFound } from '../http/errors.js';
import { ifMatchHeaders, refuseStale } from '../http/if-match.js';
import { RawJson } from '../http/json-text.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { pathId } from '../http/path-ids.js';
import type { WorkflowDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { sealRestored } from './drawing-secrets.js';
import { drawingSchema, toEtag, toWorkflowAnswer, workflowSchema } from './workflow-view.js';

const defineRoute = routesOf<WorkflowDeps>();

const versionSchema = z.object({
  version: z.int(),
  created_at: z.iso.datetime(),
  author: z.int().describe('The user who made it'),
  is_current: z.boolean(),
});

const versionParams = z.object({ id: pathId, version: pathId });

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/:id/versions/',
  summary: 'Lists the versions of the drawing, newest first: the present one and up to 999 before it.',
  access: { to: 'workflow', role: 'viewer' },
  query: z.object(pageQuery(1)),
  responses: { 200: envelopeOf(versionSchema) },
  async handler({ deps, params, query }) {
    const { total, versions } = await listVersions(deps.db, { workflowId: params.id, ...toWindow(query) });
    return answerPage(query, total, versions.map(toVersion));
  },
});

const read = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/:id/versions/:version/',
  summary: 'Returns one version with its drawing as it was last saved, with later changes that made no new version.',
  readsDrawing: 'text',
  access: { to: 'workflow', role: 'viewer' },
  params: versionParams,
  responses: { 200: versionSchema.extend({ data: drawingSchema }) },
  async handler({ deps, params }) {
    const found = orNotFound(await findVersion(deps.db, params.id, params.version));
    return { status: 200, body: { ...toVersion(found), data: new RawJson(found.document) } };
  },
});

const restore = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/versions/:version/restore/',
  summary: 'Makes the drawing of an earlier version, its secrets included, the present one, as a new version.',
  description:
    'Restoring the present version changes nothing. Restoring one that runs like the present one makes no new version.',
  readsDrawing: 'parsed',
  audit: { action: 'workflow.restored', target: 'workflow', id: 'id' },
  answerHeaders: ['ETag'],
  access: { to: 'workflow', role: 'editor' },
  params: versionParams,
  headers: ifMatchHeaders,
  responses: { 200: workflowSchema, 412: detailSchema },
  async handler({ deps, caller, params, headers }) {
    const change = { workflowId: params.id, reach: caller };
    const restored = await updateWorkflow(deps.db, change, async (stored, transaction) => {
      const isCurrent = stored.version === params.version;
      const earlier = orNotFound(isCurrent ? stored : await findStoredDrawing(transaction, params.id, params.version));
      refuseStale(headers['if-match'], toEtag(stored));
      if (isCurrent) return undefined;
      const { sealed, isNewVersion } = sealRestored(deps.secretBox, earlier, stored);
      return { fields: { ...sealed }, isNewVersion };
    });
    if (restored === undefined) throw notFound();
    return toWorkflowAnswer(restored);
  },
});

export const workflowVersionRoutes: Route<WorkflowDeps>[] = [list, read, restore];

function toVersion({ version, createdAt, authorId, isCurrent }: DrawingVersion): z.infer<typeof versionSchema> {
  return { version, created_at: createdAt.toISOString(), author: authorId, is_current: isCurrent };
}
