// Answers the visual editor's questions about drawings: node kinds, input fields, and errors that a run would have.
import { z } from 'zod';
import { openDrawing, openSecrets } from '../../acceptance/opened-drawing.js';
import { connectionErrors } from '../../acceptance/prepare-run.js';
import { fileErrors } from '../../acceptance/run-files.js';
import { findPoolWarnings } from './pool-warnings.js';
import { isChatWorkflow } from '../../db/workflows/chats-repository.js';
import { findDrawing, type StoredDrawing } from '../../db/workflows/workflows-repository.js';
import { inputFieldsOf } from '../../graph/input.js';
import { describeNodes } from '../../graph/nodes/describe-nodes.js';
import { joinSecrets, splitSecrets } from '../../graph/secrets.js';
import { mergeErrors } from '../../graph/validate.js';
import { findActionWarnings, resolveActions } from '../services/resolve-actions.js';
import { findCallWarnings } from './call-warnings.js';
import { checkDrawing, checkSchema, toStructuralCheck } from './check-drawing.js';
import { findToolWarnings, type ToolWarning } from './tool-warnings.js';
import { findNamedDraft } from './find-draft.js';
import { anyDrawingBody, fromDraft, storingProblem } from './workflow-body.js';
import { orNotFound } from '../http/errors.js';
import type { WorkflowDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';

const defineRoute = routesOf<WorkflowDeps>();

const jsonSchema = z.record(z.string(), z.unknown());

const handleSchema = z.object({
  id: z.string(),
  label: z.string(),
  field: z.string(),
  body: z
    .literal(true)
    .optional()
    .describe('What can be reached by the handle is the body of a loop: an editor draws it as one part'),
  when: z
    .record(z.string(), z.string())
    .optional()
    .describe('The handle is only taken while these fields of the data have these values'),
});

const nodeTypes = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/get_nodes/',
  summary: 'Lists the node kinds with the JSON Schemas of their data and results.',
  responses: {
    200: z.array(
      z.object({
        node_type: z.string(),
        type: z.string(),
        title: z.string(),
        description: z.string(),
        category: z.string().describe('Under which heading an editor offers the kind'),
        version: z.string(),
        handles: z
          .array(handleSchema)
          .describe(
            'By which a node is left: `id` is the `sourceHandle` of an edge, `field` holds the target in the data of the ' +
              'node. Empty where it is left by its `next_nodes`',
          ),
        handles_from: z
          .string()
          .optional()
          .describe('The field in the data of the node whose items `{id, label?, node}` are further handles'),
        is_list_optional: z
          .literal(true)
          .optional()
          .describe('That list may be absent, and the node is then left by its `next_nodes`'),
        has_next_nodes: z
          .literal(true)
          .optional()
          .describe('The node is left by its `next_nodes`, too, although it has handles'),
        body_variables: z
          .array(z.string())
          .readonly()
          .optional()
          .describe('What the nodes in the body of a loop can read of it: `item` stands for `{{ LOOP.item }}`'),
        schema: jsonSchema,
        output_schema: jsonSchema,
      }),
    ),
  },
  handler: () => ({ status: 200, body: describeNodes() }),
});

const inputFields = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/:id/input-fields/',
  summary: 'Lists the input fields of the start node.',
  readsDrawing: 'parsed',
  keyScope: 'run',
  access: { to: 'workflow', role: 'viewer' },
  responses: { 200: z.array(z.record(z.string(), z.unknown())) },
  async handler({ deps, params }) {
    const stored = orNotFound(await findDrawing(deps.db, params.id));
    return { status: 200, body: inputFieldsOf(stored.document) };
  },
});

const check = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/:id/check_workflow/',
  summary: 'Checks whether the drawing would run, and warns of what is odd about it.',
  readsDrawing: 'parsed',
  access: { to: 'workflow', role: 'viewer' },
  responses: { 200: checkSchema },
  async handler({ deps, params }) {
    const stored = orNotFound(await findDrawing(deps.db, params.id));
    const toolWarnings = await findToolWarnings(deps.db, stored);
    return { status: 200, body: await checkOne(deps, stored, openDrawing(deps.secretBox, stored), toolWarnings) };
  },
});

const checkUnsaved = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/check_workflow/',
  isRead: true,
  summary: 'Checks whether a drawing that is not stored would run, and warns of what is odd about it.',
  description:
    'The answer of the GET for `drawing`, of which nothing is stored. `********` in it is the stored value, with ' +
    '`from_draft` that of the draft.',
  readsDrawing: 'parsed',
  readsDraft: 'parsed',
  takesDrawing: true,
  resolvesActions: 'drawing',
  audit: { action: 'workflow.checked', target: 'workflow', id: 'id', records: 'refusals' },
  access: { to: 'workflow', role: 'editor' },
  body: z.object({ drawing: anyDrawingBody, from_draft: fromDraft }),
  responses: { 200: checkSchema },
  async handler({ deps, caller, params, body }) {
    const stored = orNotFound(await findDrawing(deps.db, params.id));
    const draft = await findNamedDraft(deps, stored, caller, body);
    const problem = storingProblem(body.drawing);
    if (problem !== undefined) {
      return { status: 200, body: toStructuralCheck([{ code: 'not_storable', message: problem }]) };
    }
    const before = { data: stored.document, secrets: openSecrets(deps.secretBox, stored) };
    const earlier = [draft?.data, stored.document];
    const drawing = await resolveActions(deps.db, stored.project_id, body.drawing, earlier);
    const { masked, secrets } = splitSecrets(drawing, before, draft);
    const toolWarnings = await findToolWarnings(deps.db, stored, masked);
    const drawn = { drawing: joinSecrets(masked, secrets), secrets };
    return { status: 200, body: await checkOne(deps, { ...stored, document: masked }, drawn, toolWarnings) };
  },
});

export const workflowCheckRoutes: Route<WorkflowDeps>[] = [nodeTypes, inputFields, check, checkUnsaved];

/** `document` of the workflow is the drawing without its secrets. */
async function checkOne(
  { db, config }: WorkflowDeps,
  workflow: StoredDrawing,
  { drawing, secrets }: ReturnType<typeof openDrawing>,
  toolWarnings: readonly ToolWarning[],
): Promise<z.infer<typeof checkSchema>> {
  const callWarnings = await findCallWarnings(db, workflow);
  const connections = await connectionErrors(db, workflow.project_id, drawing);
  const missingErrors = mergeErrors(connections, await fileErrors(db, workflow.project_id, drawing));
  const isChat = await isChatWorkflow(db, workflow.id);
  const actionWarnings = await findActionWarnings(db, workflow.project_id, drawing);
  const poolWarnings = await findPoolWarnings(db, workflow.project_pool, drawing);
  const project = { pool: workflow.project_pool, pools: workflow.project_pools };
  const known = { callWarnings, toolWarnings, actionWarnings, poolWarnings, project, missingErrors, isChat };
  return checkDrawing(drawing, secrets, config.runTimeoutDays, known);
}
