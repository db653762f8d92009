import { z } from 'zod';
import { poolErrors } from '../../acceptance/prepare-run.js';
import { defaultAnswersOf } from '../../graph/answer-node.js';
import { withCheckBudget } from '../../graph/check-budget.js';
import { compilePlan } from '../../graph/compile-plan.js';
import type { Document, StructuralError } from '../../graph/document.js';
import type { JsonObject } from '../../graph/json.js';
import { findLostSecrets, lostSecretErrors, lostSecretWarnings } from '../../graph/lost-secrets.js';
import type { Plan } from '../../graph/plan.js';
import type { ProjectPools } from '../../graph/pools.js';
import type { SecretMap } from '../../graph/secrets.js';
import { mergeErrors, validateNodes, validateUnlinked, type NodeErrors } from '../../graph/validate.js';
import { findWarnings, type Warning } from '../../graph/warnings.js';
import type { ActionWarning } from '../services/resolve-actions.js';
import type { CallWarning } from './call-warnings.js';
import type { PoolWarning } from './pool-warnings.js';
import type { ToolWarning } from './tool-warnings.js';
import { envelopeSchema, invalidNodesEnvelope, structuralEnvelope, type Envelope } from '../envelope/run-envelope.js';

export const drawingErrorSchema = z.object({ node_id: z.string().nullable(), path: z.string(), message: z.string() });

export const checkSchema = envelopeSchema
  .extend({
    is_valid: z.boolean(),
    errors: z.array(drawingErrorSchema),
    warnings: z.array(
      z.object({
        node_id: z.string().nullable(),
        code: z.string(),
        message: z.string(),
        path: z.string().optional().describe('The field in the data of the node, where the warning is about one'),
      }),
    ),
    default_answer_nodes: z
      .array(z.string())
      .optional()
      .describe(
        'The nodes whose words a chat is told where `settings.answer_node` names none; each on a way of its own',
      ),
  })
  .meta({ id: 'WorkflowCheck' });

/** The limit on the warnings of this file; other files that find warnings have the same limit. */
const MAX_FINDINGS = 1000;

/** Findings that need the database. */
interface KnownErrors {
  callWarnings?: readonly CallWarning[];
  toolWarnings?: readonly ToolWarning[];
  actionWarnings?: readonly ActionWarning[];
  poolWarnings?: readonly PoolWarning[];
  /** The pools of the project; if absent, the default pool. */
  project?: ProjectPools;
  /** Errors of nodes that name a connection or a file that the project does not have. */
  missingErrors?: NodeErrors;
  /** True if the workflow is offered as a chat. */
  isChat?: boolean;
}

/**
 * Returns the errors that a run of the drawing would answer, except those of its input, and warnings about drawings
 * that run but probably not as intended. `runDays`: the longest duration of a run.
 */
export function checkDrawing(
  drawing: JsonObject,
  secrets: SecretMap,
  runDays: number,
  known: KnownErrors = {},
): z.infer<typeof checkSchema> {
  return withCheckBudget(() => checkWithinBudget(drawing, secrets, runDays, known));
}

function checkWithinBudget(
  drawing: JsonObject,
  secrets: SecretMap,
  runDays: number,
  {
    callWarnings = [],
    toolWarnings = [],
    actionWarnings = [],
    poolWarnings = [],
    project = { pool: null, pools: [] },
    missingErrors = {},
    isChat = false,
  }: KnownErrors,
): z.infer<typeof checkSchema> {
  const compiled = compilePlan(drawing);
  if (!compiled.ok) return toStructuralCheck(compiled.errors);
  const { document, plan } = compiled;
  const known = mergeErrors(missingErrors, poolErrors(plan, project));
  const nodeErrors = errorsOfDrawing({ drawing, secrets, document, plan, missingErrors: known });
  const errors = toNodeRows(nodeErrors);
  const lost = findLostSecrets(drawing, secrets);
  const ofDrawing = [...findWarnings(drawing, document, plan, runDays, isChat), ...lostSecretWarnings(lost)];
  const unlinked = unlinkedWarnings(document, plan, missingErrors);
  const warnings = [...ofDrawing, ...unlinked, ...callWarnings, ...toolWarnings, ...actionWarnings, ...poolWarnings];
  const valid: Envelope = { status: 200, data: { id: null, status: 'succeed', data: null } };
  const envelope = errors.length === 0 ? valid : invalidNodesEnvelope(null, nodeErrors);
  const answers = defaultAnswersOf(drawing, plan);
  const answering = answers.length > 0 && { default_answer_nodes: answers };
  return { ...envelope, is_valid: errors.length === 0, errors, warnings, ...answering };
}

/** The check of a drawing that cannot run at all. */
export function toStructuralCheck(errors: StructuralError[]): z.infer<typeof checkSchema> {
  return { ...structuralEnvelope(errors), is_valid: false, errors: toStructuralRows(errors), warnings: [] };
}

interface CompiledDrawing extends Pick<Required<KnownErrors>, 'missingErrors'> {
  drawing: JsonObject;
  secrets: SecretMap;
  document: Document;
  plan: Plan;
}

/**
 * Returns the errors of the nodes that run, independent of the input. The caller finds those of connections, files and
 * pools (`missingErrors`).
 */
export function errorsOfDrawing({ drawing, secrets, document, plan, missingErrors }: CompiledDrawing): NodeErrors {
  // Lost secrets of fields are no errors yet, because the input may provide their values.
  const sent = findLostSecrets(drawing, secrets).filter(({ kind }) => kind !== 'field');
  const lostHeaders = lostSecretErrors(sent, { nodeIds: plan.ids, startNode: document.startNode, input: {} });
  const running = new Set(plan.ids);
  const missing = Object.fromEntries(Object.entries(missingErrors).filter(([id]) => running.has(id)));
  return [lostHeaders, missing].reduce(mergeErrors, validateNodes(document, plan));
}

/** The errors of the nodes that do not run. */
function unlinkedWarnings(document: Document, plan: Plan, missingErrors: NodeErrors): Warning[] {
  const running = new Set(plan.ids);
  const missing = Object.fromEntries(Object.entries(missingErrors).filter(([id]) => !running.has(id)));
  const errors = mergeErrors(validateUnlinked(document, plan), missing);
  return toNodeRows(errors)
    .slice(0, MAX_FINDINGS)
    .map(({ message, path, node_id }) => ({ node_id: node_id!, code: 'unlinked_error', message, path }));
}

export function toStructuralRows(errors: readonly StructuralError[]): z.infer<typeof drawingErrorSchema>[] {
  return errors.map(({ node_id, message }) => ({ node_id: node_id ?? null, path: '', message }));
}

export function toNodeRows(nodeErrors: NodeErrors): z.infer<typeof drawingErrorSchema>[] {
  return Object.entries(nodeErrors).flatMap(([nodeId, errors]) =>
    errors.flatMap((error) => Object.entries(error).map(([path, message]) => ({ node_id: nodeId, path, message }))),
  );
}
