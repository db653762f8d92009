// Publishes workflows and withdraws them from the marketplace (docs/use/interface-notes/catalog.md).
import {
  publishWorkflow,
  unpublishWorkflow,
  type PublicationOutcome,
} from '../../db/marketplace/publication-repository.js';
import { notFound, orNotFound } from '../http/errors.js';
import type { MarketplaceDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { refuseEmptyFields } from '../workflows/required-fields.js';
import { passRequiredCases } from '../test-runs/required-cases.js';
import { answerWorkflow } from '../workflows/routes.js';
import { withDrawing } from '../workflows/with-drawing.js';
import { workflowSchema } from '../workflows/workflow-view.js';

const defineRoute = routesOf<MarketplaceDeps>();

const publication = {
  method: 'POST',
  answerHeaders: ['ETag'],
  access: { to: 'workflow', role: 'admin', refusal: 400 },
  responses: { 200: workflowSchema },
} as const;

const publish = defineRoute({
  ...publication,
  audit: { action: 'workflow.published', target: 'workflow', id: 'id', commits: 'handler' },
  path: '/api/v1/workflows/:id/publish-on-marketplace/',
  summary: "Offers the template run's drawing on the marketplace; the slug is chosen at the first time and stays.",
  description: 'Required cases of the workflow are run first: 409 where one fails, or they have not ended in a minute.',
  async handler({ deps, log, tenant, access, caller, params, memory, signal, audit }) {
    const asker = { tenant, projectId: access.projectId, signal, memory };
    await passRequiredCases(deps, log, { workflowId: params.id, userId: caller.userId, asker });
    // The route does not declare `readsDrawing`, because no other large drawing could be read while the cases run.
    return withDrawing(deps, asker, { workflowId: params.id, form: 'text' }, async () => {
      await audit.change(async (transaction) => {
        refuseIncomplete(orNotFound(await publishWorkflow(transaction, params.id)));
      });
      return answerWorkflow(deps, params.id, caller);
    });
  },
});

const unpublish = defineRoute({
  ...publication,
  audit: { action: 'workflow.unpublished', target: 'workflow', id: 'id' },
  readsDrawing: 'text',
  path: '/api/v1/workflows/:id/unpublish-from-marketplace/',
  summary: 'Takes the workflow off the marketplace; copies stay.',
  async handler({ deps, caller, params }) {
    if (!(await unpublishWorkflow(deps.db, params.id))) throw notFound();
    return answerWorkflow(deps, params.id, caller);
  },
});

export const publicationRoutes: Route<MarketplaceDeps>[] = [publish, unpublish];

/** Throws one 400 that names every missing field, and a missing template run. */
function refuseIncomplete({ missingFields, lacksTemplateRun }: PublicationOutcome): void {
  const message = 'No run of the workflow is marked as the marketplace template.';
  refuseEmptyFields(missingFields, lacksTemplateRun ? { non_field_errors: [message] } : {});
}
