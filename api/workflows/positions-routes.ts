// Duplicates and reorders the workflows of a project. These routes answer a role without permission with 400.
import { z } from 'zod';
import { duplicateWorkflow } from '../../db/workflows/duplicate-workflow.js';
import { reorderWorkflow } from '../../db/workflows/reorder-workflow.js';
import { notFound, orNotFound } from '../http/errors.js';
import { integerField } from '../http/field-errors.js';
import type { WorkflowDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { workflowSchema } from './workflow-view.js';
import { answerWorkflow } from './routes.js';

const defineRoute = routesOf<WorkflowDeps>();

const duplicate = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/duplicate/',
  summary: 'Copies a workflow, its secrets included, to the end of its project.',
  audit: { action: 'workflow.duplicated', target: 'workflow', makes: 'id' },
  readsDrawing: 'text',
  answerHeaders: ['ETag'],
  access: { to: 'workflow', role: 'editor', refusal: 400 },
  responses: { 201: workflowSchema },
  async handler({ deps, caller, access, params }) {
    const source = { workflowId: params.id, projectId: access.projectId, userId: caller.userId };
    const workflowId = orNotFound(await duplicateWorkflow(deps.db, deps.secretBox, source));
    return { ...(await answerWorkflow(deps, workflowId, caller)), status: 201 };
  },
});

const reorder = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/reorder/',
  summary: 'Moves a workflow to a position in its project, counted from 1; the others shift.',
  audit: { action: 'workflow.moved', target: 'workflow', id: 'id' },
  readsDrawing: 'text',
  answerHeaders: ['ETag'],
  access: { to: 'workflow', role: 'editor', refusal: 400 },
  body: z.object({ sort_id: integerField() }),
  responses: { 200: workflowSchema },
  async handler({ deps, caller, access, params, body }) {
    const move = { workflowId: params.id, projectId: access.projectId, position: body.sort_id };
    if (!(await reorderWorkflow(deps.db, move))) throw notFound();
    return answerWorkflow(deps, params.id, caller);
  },
});

export const workflowPositionRoutes: Route<WorkflowDeps>[] = [duplicate, reorder];
