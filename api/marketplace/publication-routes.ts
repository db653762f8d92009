// Specification, "Marketplace publication".
import {
  publishWorkflow,
  unpublishWorkflow,
  type PublicationOutcome,
} from '../../db/marketplace/publication-repository.js';
import type { Reach } from '../../db/projects/reach.js';
import { findWorkflow } from '../../db/workflows/workflows-repository.js';
import { badRequestSchema, detailSchema, keyErrors } from '../http/answer-schemas.js';
import type { AppDeps } from '../deps.js';
import { notFound } from '../http/errors.js';
import { idParams } from '../http/path-ids.js';
import { defineRoute, type Route, type RouteResult } from '../http/route.js';
import { refuseEmptyFields } from './required-fields.js';
import { toEtag, toWorkflow, workflowSchema } from '../workflows/workflow-view.js';

const publication = {
  method: 'POST',
  auth: 'key',
  keyScope: 'full',
  readsDrawing: 'text',
  answerHeaders: ['ETag'],
  access: { to: 'workflow', role: 'admin', refusal: 400 },
  params: idParams,
  responses: { 200: workflowSchema, 400: badRequestSchema, 404: detailSchema, ...keyErrors },
} as const;

const publish = defineRoute({
  ...publication,
  audit: { action: 'workflow.published', target: 'workflow', id: 'id' },
  path: '/api/v1/workflows/:id/publish-on-marketplace/',
  summary: "Offers the template run's drawing on the marketplace; the slug is chosen at the first time and stays.",
  async handler({ deps, caller, params }) {
    const outcome = await publishWorkflow(deps.db, params.id);
    if (outcome === undefined) throw notFound();
    refuseIncomplete(outcome);
    return answerWorkflow(deps, params.id, caller);
  },
});

const unpublish = defineRoute({
  ...publication,
  audit: { action: 'workflow.unpublished', target: 'workflow', id: 'id' },
  path: '/api/v1/workflows/:id/unpublish-from-marketplace/',
  summary: 'Takes the workflow off the marketplace; copies stay.',
  async handler({ deps, caller, params }) {
    if (!(await unpublishWorkflow(deps.db, params.id))) throw notFound();
    return answerWorkflow(deps, params.id, caller);
  },
});

export const publicationRoutes: Route[] = [publish, unpublish];

/** Throws one error that names everything that is missing. */
function refuseIncomplete({ missingFields, lacksTemplateRun }: PublicationOutcome): void {
  const message = 'No run of the workflow is marked as the marketplace template.';
  refuseEmptyFields(missingFields, lacksTemplateRun ? { non_field_errors: [message] } : {});
}

async function answerWorkflow({ db }: AppDeps, workflowId: number, reach: Reach): Promise<RouteResult> {
  const workflow = await findWorkflow(db, workflowId, reach);
  if (workflow === undefined) throw notFound();
  return { status: 200, body: toWorkflow(workflow), headers: { ETag: toEtag(workflow) } };
}
