// Creates, lists, reads, changes and deletes workflows (docs/use/interface-notes/runs.md, "Workflows").
import { z } from 'zod';
import type { Updateable } from 'kysely';
import { archiveWorkflow } from '../../db/cascades/archive-workflow.js';
import { findProjectRole } from '../../db/projects/members-repository.js';
import type { Db } from '../../db/core/client.js';
import { reserveId } from '../../db/core/reserve-id.js';
import type { Reach } from '../../db/access/reach.js';
import type { Tables } from '../../db/core/tables.js';
import {
  createWorkflow,
  findWorkflow,
  findWorkflows,
  listWorkflows,
  updateWorkflow,
  type StoredWorkflow,
  type WorkflowUpdate,
} from '../../db/workflows/workflows-repository.js';
import { deleteDraft } from '../../db/workflows/drafts-repository.js';
import { detailSchema, nothing } from '../http/answer-schemas.js';
import { emptyFieldsOf, refuseEmptyFields } from './required-fields.js';
import { changeCategories } from './change-categories.js';
import type { WorkflowDeps } from './deps.js';
import { refuseLoss, sealDrawing, sealUpdate } from './drawing-secrets.js';
import { findOpenedDraft, requireDraft } from './find-draft.js';
import { invalidFields, notFound, orNotFound, permissionDenied, refusing } from '../http/errors.js';
import { integerField } from '../http/field-errors.js';
import { ifMatchHeaders, refuseStale } from '../http/if-match.js';
import { mayAct } from '../../acceptance/roles.js';
import { answerPage, envelopeOf, pageQuery, queryInteger, toWindow } from '../http/pagination.js';
import { MAX_ID } from '../http/path-ids.js';
import { routesOf, type Route, type RouteResult } from '../http/route.js';
import { resolveActions } from '../services/resolve-actions.js';
import { listDrawings } from './list-drawings.js';
import { workflowChangesSchema, drawingBody, titleBody } from './workflow-body.js';
import { listedWorkflowSchema, toEtag, toWorkflow, toWorkflowAnswer, workflowSchema } from './workflow-view.js';

const defineRoute = routesOf<WorkflowDeps>();

const listPath = '/api/v1/workflows/';
const workflowPath = '/api/v1/workflows/:id/';

const list = defineRoute({
  method: 'GET',
  path: listPath,
  summary: 'Lists the workflows of the projects that the caller is a member of, in their order.',
  query: z.object({
    ...pageQuery(1),
    project: queryInteger(0, MAX_ID).optional(),
    title: z.string().optional(),
  }),
  responses: { 200: envelopeOf(listedWorkflowSchema) },
  async handler({ deps, caller, query }) {
    const { total, ids } = await listWorkflows(deps.db, {
      reach: caller,
      projectId: query.project,
      titleContains: query.title || undefined,
      ...toWindow(query),
    });
    const items = await listDrawings(deps, ids, async (asked, limitBytes) =>
      (await findWorkflows(deps.db, asked, caller, limitBytes)).map(toWorkflow),
    );
    return answerPage(query, total, items);
  },
});

const create = defineRoute({
  method: 'POST',
  path: listPath,
  summary: 'Creates a workflow at the end of its project.',
  audit: { action: 'workflow.created', target: 'workflow', makes: 'id' },
  answerHeaders: ['ETag'],
  resolvesActions: 'data',
  body: z.object({ project: integerField(), title: titleBody, data: drawingBody }),
  responses: { 201: workflowSchema },
  async handler({ deps, caller, body }) {
    await checkProject(deps, body.project, caller);
    const { project: projectId, title } = body;
    const id = await reserveId(deps.db, 'workflows');
    const place = { id, project_id: projectId };
    const data = await resolveActions(deps.db, projectId, body.data);
    const { document, secrets_enc: secretsEnc } = sealDrawing(deps.secretBox, place, data);
    const drawing = { id, projectId, authorId: caller.userId, title, document, secretsEnc };
    const workflowId = await createWorkflow(deps.db, drawing);
    if (workflowId === undefined) throw unknownProject(projectId);
    return { ...(await answerWorkflow(deps, workflowId, caller)), status: 201 };
  },
});

const read = defineRoute({
  method: 'GET',
  path: workflowPath,
  summary: 'Returns one workflow.',
  readsDrawing: 'text',
  answerHeaders: ['ETag'],
  access: { to: 'workflow', role: 'viewer' },
  responses: { 200: workflowSchema },
  handler: ({ deps, caller, params }) => answerWorkflow(deps, params.id, caller),
});

const update = defineRoute({
  method: 'PATCH',
  path: workflowPath,
  summary: 'Changes title, drawing, limit or marketplace fields; ******** in a secret place keeps what is stored.',
  description:
    'With `If-Match`, the `ETag` of an earlier answer, nothing is changed when somebody else has changed the workflow ' +
    'since (412). A change of `data` that changes what runs makes a new version. A change of `data` with `from_draft`, or ' +
    "by a session, ends the caller's draft.",
  readsDrawing: 'parsed',
  readsDraft: 'parsed',
  resolvesActions: 'data',
  audit: { action: 'workflow.changed', target: 'workflow', id: 'id', alwaysRecorded: ['data'] },
  answerHeaders: ['ETag'],
  access: { to: 'workflow', role: 'editor' },
  body: workflowChangesSchema,
  responses: { 200: workflowSchema, 412: detailSchema },
  headers: ifMatchHeaders,
  async handler({ deps, caller, params, body, headers }) {
    const { data, from_draft: isFromDraft, draft_etag: draftTag, categories, subcategories, ...fields } = body;
    const { run_fee: runFee, max_run_cost: maxRunCost, ...others } = fields;
    const endsDraft = data !== undefined && (isFromDraft === true || caller.credential === 'session');
    const plain = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined));
    const toUpdate = async (stored: StoredWorkflow, transaction: Db): Promise<WorkflowUpdate> => {
      refuseStale(headers['if-match'], toEtag(stored));
      if (stored.is_published) refuseEmptyFields(emptyFieldsOf(plain));
      const changes: Updateable<Tables['workflows']> = { ...plain };
      if (runFee !== undefined) changes.run_fee_usd = runFee;
      if (maxRunCost !== undefined) changes.max_run_cost_usd = maxRunCost;
      if (data === undefined) return { fields: changes, isNewVersion: false };
      const place = { ...stored, userId: caller.userId };
      const draft = isFromDraft ? await requireDraft(transaction, deps.secretBox, place, draftTag) : undefined;
      const ending = endsDraft && !isFromDraft ? await findOpenedDraft(transaction, deps.secretBox, place) : undefined;
      const drafted = (draft ?? ending)?.data;
      const resolved = await resolveActions(transaction, stored.project_id, data, [drafted, stored.document]);
      if (ending !== undefined) refuseLoss(deps.secretBox, resolved, stored, ending);
      const { sealed, isNewVersion } = sealUpdate(deps.secretBox, resolved, stored, draft);
      return { fields: { ...changes, ...sealed }, isNewVersion };
    };
    const change = { workflowId: params.id, reach: caller };
    const updated = await updateWorkflow(deps.db, change, toUpdate, async (transaction) => {
      await changeCategories(transaction, params.id, { categories, subcategories });
      if (endsDraft) await deleteDraft(transaction, { workflowId: params.id, userId: caller.userId });
    });
    if (updated === undefined) throw notFound();
    return toWorkflowAnswer(updated);
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: workflowPath,
  summary: 'Archives the workflow: no read shows it any more, and its runs stay in the books.',
  audit: { action: 'workflow.deleted', target: 'workflow', id: 'id' },
  access: { to: 'workflow', role: 'editor' },
  responses: { 204: nothing },
  async handler({ deps, access, params }) {
    if (!(await archiveWorkflow(deps.db, access.projectId, params.id))) throw notFound();
    return { status: 204 };
  },
});

export const workflowRoutes: Route<WorkflowDeps>[] = [list, create, read, update, remove];

/** A project that the caller cannot see is a 400 on `project`; one that it may only read is a 403. */
async function checkProject({ db }: WorkflowDeps, projectId: number, reach: Reach): Promise<void> {
  const isPossible = projectId > 0 && projectId <= MAX_ID;
  const access = isPossible ? await findProjectRole(db, projectId, reach) : undefined;
  if (access === undefined) throw unknownProject(projectId, isPossible);
  if (!mayAct(access.role, 'editor')) throw permissionDenied();
}

function unknownProject(projectId: number, isHidden = false): Error {
  const error = invalidFields({ project: [`Invalid pk "${projectId}" - object does not exist.`] });
  return isHidden ? refusing({ type: 'project', id: projectId }, error) : error;
}

export async function answerWorkflow(
  { db }: Pick<WorkflowDeps, 'db'>,
  workflowId: number,
  reach: Reach,
): Promise<RouteResult> {
  return toWorkflowAnswer(orNotFound(await findWorkflow(db, workflowId, reach)));
}
