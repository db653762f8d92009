// Changes the draft of the user, and saves it.
import { z } from 'zod';
import { holdsActions } from '../../graph/actions/stored-actions.js';
import { applyChanges, EMPTY_DRAWING, refusedCredential } from '../../graph/building/apply-changes.js';
import {
  ChangeError,
  changesSchema,
  MOST_CHANGES,
  readChanges,
  type Change,
} from '../../graph/building/changes-schema.js';
import { toShortForm } from '../../graph/building/short-form.js';
import type { JsonObject } from '../../graph/json.js';
import { forEachAction, resolveActions } from '../services/resolve-actions.js';
import { documentedAs } from '../http/documented-as.js';
import { invalidFields } from '../http/errors.js';
import { refuseLongDraft } from '../workflows/draft-routes.js';
import { storingProblem } from '../workflows/workflow-body.js';
import { checkDrawing, checkSchema, editorUrl, readDrawing, type ReadDrawing, type ShownCheck } from './drawings.js';
import { defineTool, idSchema, textUpTo, ToolError, toSentence, type ToolContext } from './tool.js';
import { firstOf, isStale } from './workflow-tools.js';

/** Clients see the schema of each change, but zod accepts any value: `readChanges` reports the errors in a change. */
const changes = documentedAs(
  z.array(z.unknown()).min(1).max(MOST_CHANGES),
  z.toJSONSchema(changesSchema, { target: 'draft-7', io: 'input' }),
);

export const editWorkflow = defineTool({
  name: 'edit_workflow',
  title: 'Change a drawing',
  description:
    "Changes the user's draft of a workflow (`id`), or makes a new workflow (`project` and `title`): all changes or none, 1 to " +
    '200. `base`, the tag of the draft that you have read, makes sure that nobody has changed it since. Nothing runs and no ' +
    'version is made. Answers with the new tag and the check; errors come first.',
  isReading: false,
  input: z.object({
    id: idSchema.optional(),
    project: idSchema.optional(),
    title: textUpTo(255).optional(),
    base: textUpTo(100).optional(),
    changes,
  }),
  output: z.object({ id: z.int(), draft: z.string(), check: checkSchema, url: z.string() }),
  async run(context, { id, project, title, base, changes: sent }) {
    const wanted = readSent(sent);
    refuseOthers(context, id);
    if (id !== undefined) return answer(context, await changeDraft(context, id, base, wanted));
    if (project === undefined || title === undefined) {
      throw new ToolError('Name the id of a workflow, or the project and the title of a new one.');
    }
    return answer(context, await createWorkflow(context, { project, title }, wanted));
  },
});

/** The assistant in the editor may change only that editor's workflow, where the person sees and can undo changes. */
function refuseOthers({ caller: { assistant } }: ToolContext, id: number | undefined): void {
  if (assistant === undefined || assistant.workflowId === id) return;
  throw new ToolError(`You change the workflow ${assistant.workflowId} of this editor alone: name it as id.`);
}

interface Drafted {
  id: number;
  draft: string;
  drawing: JsonObject;
}

async function answer(context: ToolContext, { id, draft, drawing }: Drafted) {
  const check = await checkDrawing(context, { id, drawing, isDraft: true });
  return { id, draft, check, url: editorUrl(context, id) };
}

/**
 * Applies the changes and checks the draft before it creates the workflow, so that invalid changes create no workflow.
 * If the draft is refused nevertheless, for example by the quota of the project, the error names the empty workflow,
 * because each repeat would make another one. A process that dies before the draft is stored leaves an empty workflow.
 */
async function createWorkflow(
  context: ToolContext,
  { project, title }: { project: number; title: string },
  wanted: readonly Change[],
): Promise<Drafted> {
  const isAction = await findActionsOf(context, project, wanted);
  const drawing = await apply(context, project, { drawing: EMPTY_DRAWING, wanted, isAction });
  refuseLongDraft(drawing);
  const problem = storingProblem(drawing);
  if (problem !== undefined) throw invalidFields({ data: [problem] });
  const { body } = await context.calls.call('POST /api/v1/workflows/', {
    body: { project, title, data: EMPTY_DRAWING },
  });
  const { id } = body as { id: number };
  try {
    return { id, draft: await storeDraft(context, id, { drawing, baseVersion: 1, etag: null }), drawing };
  } catch (error) {
    throw new ToolError(`${toSentence(error)} The workflow ${id} was made, and is empty: name it as id from now on.`);
  }
}

/** The limit on attempts of a change without `base`: another change may come between its read and its write. */
const MOST_ATTEMPTS = 20;

async function changeDraft(
  context: ToolContext,
  id: number,
  base: string | undefined,
  wanted: readonly Change[],
): Promise<Drafted> {
  await context.calls.admit('PUT /api/v1/workflows/:id/draft/', { params: { id: String(id) } });
  let isAction: IsAction | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const before = await readDrawing(context, id);
    const etag = before.draft?.etag ?? null;
    if (base !== undefined && base !== etag) throw stale(before);
    isAction ??= await findActionsOf(context, before.project, wanted);
    const drawing = await apply(context, before.project, { drawing: before.drawing, wanted, isAction });
    const baseVersion = before.draft?.baseVersion ?? before.version;
    try {
      return { id, draft: await storeDraft(context, id, { drawing, baseVersion, etag }), drawing };
    } catch (error) {
      if (!isStale(error)) throw error;
      if (base !== undefined || attempt === MOST_ATTEMPTS) throw stale(await readDrawing(context, id));
    }
  }
}

/** Stores the draft and returns its ETag. `etag` is that of the replaced draft; null if there is no draft. */
async function storeDraft(
  { calls }: ToolContext,
  id: number,
  { drawing, baseVersion, etag }: { drawing: JsonObject; baseVersion: number; etag: string | null },
): Promise<string> {
  const { headers } = await calls.call('PUT /api/v1/workflows/:id/draft/', {
    params: { id: String(id) },
    headers: etag === null ? { 'if-none-match': '*' } : { 'if-match': etag },
    body: { data: drawing, base_version: baseVersion },
  });
  return headers['ETag']!;
}

function readSent(sent: readonly unknown[]): Change[] {
  try {
    return readChanges(sent);
  } catch (error) {
    throw toToolError(error);
  }
}

type IsAction = (action: { service: string; id: string }) => boolean;

/** Returns a function that tells whether the project or the catalogue has an action that the changes add. */
async function findActionsOf(context: ToolContext, project: number, wanted: readonly Change[]): Promise<IsAction> {
  const named = wanted.flatMap((change) => ('add' in change && change.add.action ? [change.add.action] : []));
  if (named.length === 0) return () => false;
  const known = new Set<string>();
  const keyOf: (action: { service: string; id: string }) => string = ({ service, id }) => JSON.stringify([service, id]);
  await forEachAction(context.deps.db, project, named, (action, facts) => {
    if (facts !== undefined) known.add(keyOf(action));
  });
  return (action) => known.has(keyOf(action));
}

async function apply(
  { deps }: ToolContext,
  project: number,
  { drawing, wanted, isAction }: { drawing: JsonObject; wanted: readonly Change[]; isAction: IsAction },
): Promise<JsonObject> {
  let changed: JsonObject;
  try {
    changed = applyChanges(drawing, wanted, isAction);
  } catch (error) {
    throw toToolError(error);
  }
  if (!holdsActions(changed)) return changed;
  const { nodes } = await resolveActions(deps.db, project, changed, [drawing]);
  const refused = refusedCredential(nodes);
  if (refused !== undefined) throw new ToolError(`${refused} Nothing was changed.`);
  return changed;
}

function toToolError(error: unknown): unknown {
  if (!(error instanceof ChangeError)) return error;
  return new ToolError(`changes[${error.index}]: ${error.message} Nothing was changed.`);
}

const STALE_BYTES = 16 * 1024;

/**
 * The error shows as many nodes of the present drawing as fit, so that the model can often repeat the call without
 * another read.
 */
function stale({ draft, drawing }: ReadDrawing): ToolError {
  const now = draft === null ? 'there is no draft any more' : `its tag is now ${draft.etag}`;
  const { start, nodes } = toShortForm(drawing);
  const shown = JSON.stringify({ draft: draft?.etag ?? null, start, ...firstOf(nodes, STALE_BYTES) });
  return new ToolError(
    `The draft has been changed since you read it: ${now}. Nothing was changed. There is now:\n${shown}`,
  );
}

export const saveWorkflow = defineTool({
  name: 'save_workflow',
  title: 'Save the draft',
  description:
    'Makes the draft the present version of the workflow and ends the draft. `base` is the tag of the draft. Refused while the ' +
    'check has errors. Save only when the user has asked for it.',
  isReading: false,
  input: z.object({ id: idSchema, base: textUpTo(100) }),
  output: z.object({ version: z.int(), check: checkSchema, url: z.string() }),
  async run(context, { id, base }) {
    await context.calls.admit('PATCH /api/v1/workflows/:id/', { params: { id: String(id) } });
    const read = await readDrawing(context, id);
    if (read.draft === null) throw new ToolError('There is no draft to save. edit_workflow makes one.');
    if (read.draft.etag !== base) throw stale(read);
    const check = await checkDrawing(context, { id, drawing: read.drawing, isDraft: true });
    if (!check.is_valid) throw new ToolError(`Not saved: the check has errors.\n${JSON.stringify(errorsOf(check))}`);
    try {
      const { body } = await context.calls.call('PATCH /api/v1/workflows/:id/', {
        params: { id: String(id) },
        body: { data: read.drawing, from_draft: true, draft_etag: base },
      });
      return { version: (body as { version: number }).version, check, url: editorUrl(context, id) };
    } catch (error) {
      if (isStale(error)) throw stale(await readDrawing(context, id));
      throw error;
    }
  },
});

function errorsOf({ errors, error_count }: ShownCheck) {
  return { error_count, errors };
}
