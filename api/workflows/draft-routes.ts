// The unsaved drawing of the caller (docs/use/api.md, "Drafts").
import { z } from 'zod';
import { inTransaction } from '../../db/core/in-transaction.js';
import { deleteDraft, findDraft, lockDraft, storeDraft, type Draft } from '../../db/workflows/drafts-repository.js';
import { findDrawing } from '../../db/workflows/workflows-repository.js';
import { holdsActions, drawingWithoutFacts } from '../../graph/actions/stored-actions.js';
import type { JsonObject } from '../../graph/json.js';
import { detailSchema, nothing } from '../http/answer-schemas.js';
import { ApiError, invalidFields, orNotFound } from '../http/errors.js';
import { integerField } from '../http/field-errors.js';
import { ifMatchHeaders, ifNoneMatchAnyHeaders, refuseExisting, refuseStale } from '../http/if-match.js';
import { RawJson } from '../http/json-text.js';
import { MAX_ID } from '../http/path-ids.js';
import { routesOf, type Route, type RouteResult } from '../http/route.js';
import { resolveActions } from '../services/resolve-actions.js';
import type { WorkflowDeps } from './deps.js';
import { openDraft, sealDraft } from './drawing-secrets.js';
import { draftEtag } from './find-draft.js';
import { drawingBody } from './workflow-body.js';
import { drawingSchema } from './workflow-view.js';

const defineRoute = routesOf<WorkflowDeps>();

const path = '/api/v1/workflows/:id/draft/';
const MOST_BYTES = 1024 * 1024;

const draftSchema = z
  .object({
    data: drawingSchema.describe('Secrets are ********'),
    base_version: z.int().describe('The version of the drawing from which it began'),
    updated_at: z.iso.datetime(),
    assistant_run: z
      .uuid()
      .nullable()
      .describe('The run of the assistant in the editor that has written it last; null if the caller has'),
  })
  .meta({ id: 'Draft' });

const read = defineRoute({
  method: 'GET',
  path,
  summary: 'Returns the unsaved drawing of the caller; 404 if there is none.',
  readsDraft: 'text',
  answerHeaders: ['ETag'],
  access: { to: 'workflow', role: 'editor' },
  responses: { 200: draftSchema },
  async handler({ deps, caller, params }) {
    return toAnswer(orNotFound(await findDraft(deps.db, { workflowId: params.id, userId: caller.userId })));
  },
});

const put = defineRoute({
  method: 'PUT',
  path,
  summary: 'Keeps an unsaved drawing of the caller: at most 1 MiB, for 30 days.',
  description:
    'Nobody else reads it, and nothing runs it. `********` keeps the value of the draft that it replaces. Where that has ' +
    'none, it stands for the one of the workflow, once the drawing is saved. With `If-Match`, the `ETag` of an earlier ' +
    'answer, nothing is changed when the draft is another one by now, or gone (412); with `If-None-Match: *` nothing is ' +
    'when there is one.',
  readsDrawing: 'parsed',
  readsDraft: 'parsed',
  resolvesActions: 'data',
  audit: { action: 'workflow.drafted', target: 'workflow', id: 'id', records: 'refusals' },
  answerHeaders: ['ETag'],
  access: { to: 'workflow', role: 'editor' },
  body: z.object({ data: drawingBody, base_version: integerField().min(1).max(MAX_ID) }),
  headers: ifMatchHeaders.extend(ifNoneMatchAnyHeaders.shape),
  responses: { 200: draftSchema, 412: detailSchema },
  async handler({ deps, caller, params, body, headers }) {
    refuseLongDraft(body.data);
    const key = { workflowId: params.id, userId: caller.userId };
    const stored = await inTransaction(deps.db, async (transaction) => {
      const workflow = orNotFound(await lockDraft(transaction, key));
      if (body.base_version > workflow.version) {
        throw invalidFields({ base_version: ['The workflow has no such version.'] });
      }
      const previous = await findDraft(transaction, key);
      refuseStale(headers['if-match'], previous && draftEtag(previous));
      refuseExisting(headers['if-none-match'], previous && draftEtag(previous));
      const place = { ...workflow, userId: caller.userId };
      const before = previous && openDraft(deps.secretBox, place, previous);
      const saved = holdsActions(body.data) ? await findDrawing(transaction, params.id) : undefined;
      const earlier = [before?.data, saved?.document];
      const data = await resolveActions(transaction, workflow.project_id, body.data, earlier);
      const { document, secrets_enc: secretsEnc } = sealDraft(deps.secretBox, place, data, before);
      const writtenBy = caller.assistant?.runId ?? null;
      return storeDraft(transaction, { ...key, document, secretsEnc, baseVersion: body.base_version, writtenBy });
    });
    return toAnswer(stored);
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path,
  summary: 'Removes the unsaved drawing of the caller.',
  audit: { action: 'workflow.drafted', target: 'workflow', id: 'id', records: 'refusals' },
  access: { to: 'workflow', role: 'editor' },
  headers: ifMatchHeaders,
  responses: { 204: nothing, 412: detailSchema },
  async handler({ deps, caller, params, headers }) {
    const key = { workflowId: params.id, userId: caller.userId };
    await inTransaction(deps.db, async (transaction) => {
      await lockDraft(transaction, key);
      const draft = orNotFound(await findDraft(transaction, key));
      refuseStale(headers['if-match'], draftEtag(draft));
      await deleteDraft(transaction, key);
    });
    return { status: 204 };
  },
});

export const draftRoutes: Route<WorkflowDeps>[] = [read, put, remove];

/** Throws 413 for a drawing of more than 1 MiB, not counting the facts of its actions. */
export function refuseLongDraft(drawing: JsonObject): void {
  if (Buffer.byteLength(JSON.stringify(drawingWithoutFacts(drawing))) <= MOST_BYTES) return;
  throw new ApiError(413, 'too_large', 'A draft has at most 1 MiB.');
}

function toAnswer(draft: Draft): RouteResult {
  const { document, base_version: baseVersion, updated_at: updatedAt, written_by: writtenBy } = draft;
  const body = {
    data: new RawJson(document),
    base_version: baseVersion,
    updated_at: updatedAt.toISOString(),
    assistant_run: writtenBy,
  };
  return { status: 200, body, headers: { ETag: draftEtag(draft) } };
}
