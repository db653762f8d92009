import { z } from 'zod';
import { defaultAnswersOf } from '../../graph/answer-node.js';
import { compilePlan } from '../../graph/compile-plan.js';
import type { JsonObject } from '../../graph/json.js';
import { findLostSecrets, lostSecretErrors, lostSecretWarnings } from '../../graph/lost-secrets.js';
import type { SecretMap } from '../../graph/secrets.js';
import { mergeErrors, validateNodes, type NodeErrors } from '../../graph/validate.js';
import { findWarnings } from '../../graph/warnings.js';
import type { CallWarning } from './call-warnings.js';
import type { ToolWarning } from './tool-warnings.js';
import { envelopeSchema, invalidNodesEnvelope, structuralEnvelope, type Envelope } from '../runs/run-envelope.js';

export const checkSchema = envelopeSchema
  .extend({
    is_valid: z.boolean(),
    errors: z.array(z.object({ node_id: z.string().nullable(), path: z.string(), message: z.string() })),
    warnings: z.array(z.object({ node_id: z.string().nullable(), code: z.string(), message: z.string() })),
    default_answer_nodes: z
      .array(z.string())
      .optional()
      .describe(
        'The nodes whose words a chat is told where `settings.answer_node` names none; each on a way of its own',
      ),
  })
  .meta({ id: 'WorkflowCheck' });

/** What the database alone knows. */
interface KnownErrors {
  /** Warnings about the workflows that the drawing runs. */
  callWarnings?: readonly CallWarning[];
  /** Warnings about the tools that its agents are not offered. */
  toolWarnings?: readonly ToolWarning[];
  /** Nodes that name a connection which the project has not. */
  connectionErrors?: NodeErrors;
}

/**
 * Returns the errors that a run of the drawing would answer, and warnings about drawings that run but probably not as
 * intended. `runDays`: how long a run may last.
 */
export function checkDrawing(
  drawing: JsonObject,
  secrets: SecretMap,
  runDays: number,
  { callWarnings = [], toolWarnings = [], connectionErrors = {} }: KnownErrors = {},
): z.infer<typeof checkSchema> {
  const compiled = compilePlan(drawing);
  if (!compiled.ok) {
    const errors = compiled.errors.map(({ node_id, message }) => ({ node_id: node_id ?? null, path: '', message }));
    return { ...structuralEnvelope(compiled.errors), is_valid: false, errors, warnings: [] };
  }
  const { document, plan } = compiled;
  const lost = findLostSecrets(drawing, secrets);
  // Nobody knows here which values the input will have for fields.
  const headers = lost.filter(({ kind }) => kind === 'header');
  const lostHeaders = lostSecretErrors(headers, { nodeIds: plan.ids, startNode: document.startNode, input: {} });
  const running = new Set(plan.ids);
  const missing = Object.fromEntries(Object.entries(connectionErrors).filter(([id]) => running.has(id)));
  const nodeErrors = [lostHeaders, missing].reduce(mergeErrors, validateNodes(document, plan));
  const errors = flatten(nodeErrors);
  const ofDrawing = [...findWarnings(drawing, document, plan, runDays), ...lostSecretWarnings(lost)];
  const warnings = [...ofDrawing, ...callWarnings, ...toolWarnings];
  const valid: Envelope = { status: 200, data: { id: null, status: 'succeed', data: null } };
  const envelope = errors.length === 0 ? valid : invalidNodesEnvelope(null, nodeErrors);
  const answers = defaultAnswersOf(drawing, plan);
  const answering = answers.length > 0 && { default_answer_nodes: answers };
  return { ...envelope, is_valid: errors.length === 0, errors, warnings, ...answering };
}

function flatten(nodeErrors: NodeErrors): { node_id: string; path: string; message: string }[] {
  return Object.entries(nodeErrors).flatMap(([nodeId, errors]) =>
    errors.flatMap((error) => Object.entries(error).map(([path, message]) => ({ node_id: nodeId, path, message }))),
  );
}
