// Prepares a run for storage: the drawing as a plan, the input with defaults, and the errors of both. The API accepts
// runs that somebody requests (docs/use/api.md, "Start a run"), and the worker those that nodes and schedules start.
import { randomUUID } from 'node:crypto';
import type { Db } from '../db/core/client.js';
import type { SecretBox } from '../db/core/secret-box.js';
import { findConnectionsOf } from '../db/connections/connections-repository.js';
import { sealPassedSecrets, type RunRow } from '../db/runs/passed-secrets.js';
import type { RunFacts } from '../db/runs/runs-repository.js';
import { connectionsIn, UNKNOWN_CONNECTION } from '../graph/connections.js';
import type { Document, StructuralError } from '../graph/document.js';
import { completeInput, defaultOf, secretFieldsOf, type RunInput } from '../graph/input.js';
import { writeJson } from '../graph/json-text.js';
import type { JsonObject } from '../graph/json.js';
import { lostSecretErrors } from '../graph/lost-secrets.js';
import { createMasker } from '../graph/mask.js';
import { pushTo } from '../graph/push-to.js';
import { isPlain } from '../graph/plain-plan.js';
import type { Plan } from '../graph/plan.js';
import { allowedPools, hasPools, type ProjectPools } from '../graph/pools.js';
import { joinSecrets, keepInputSecrets, maskInput, secretTexts, type SecretMap } from '../graph/secrets.js';
import { mergeErrors, type NodeErrors } from '../graph/validate.js';
import { deriveDrawing } from './derived-drawing.js';
import type { DrawingToRun } from './drawing-cache.js';
import { resolveRunFiles } from './run-files.js';
import { openSecrets, sealSecrets } from './opened-drawing.js';

export interface RunToPrepare {
  workflow: DrawingToRun;
  userId: number;
  input: RunInput;
  /** A new id by default. */
  runId?: string | undefined;
  /** The input fields whose files were uploaded with the request. */
  uploaded?: readonly string[] | undefined;
  /** Returns the value for `********` in a secret input field. Without a value, the field's stored default counts. */
  storedSecret?: ((fieldId: string) => unknown) | undefined;
  /**
   * Secrets of other runs, and of stored inputs whose fields may no longer be secret. The input may contain these
   * secrets, which are masked like the run's own.
   */
  passedSecrets?: readonly string[] | undefined;
}

export interface PreparedRun {
  facts: Omit<RunFacts, 'snapshot_hash'>;
  /** Empty for a run that may be accepted. A run with errors is refused, or stored as a `Draft`. */
  nodeErrors: NodeErrors;
  drawing: JsonObject;
  document: Document;
  plan: Plan;
}

/** A drawing with structural errors cannot be compiled, so it has no run. */
type Preparation = { ok: true; run: PreparedRun } | { ok: false; errors: StructuralError[] };

export interface PreparingDeps {
  db: Db;
  secretBox: SecretBox;
}

export async function prepareRun({ db, secretBox }: PreparingDeps, request: RunToPrepare): Promise<Preparation> {
  const { workflow, passedSecrets = [] } = request;
  const secrets = openSecrets(secretBox, workflow);
  const derivation = deriveOnce(workflow, secrets);
  if (!derivation.ok) return derivation;
  const { drawing, document, plan, fields, files: drawn } = derivation.derived;
  const { input: completed, errors: fieldErrors } = fillInput(fields, request);
  const projectId = workflow.project_id;
  const { uploaded } = request;
  const files = await resolveRunFiles(db, { projectId, fields, input: completed, uploaded, drawn });
  const { input } = files;
  const inputErrors = [...fieldErrors, ...files.inputErrors];
  const { startNode } = document;
  const lost = lostSecretErrors(derivation.derived.lostSecrets, { nodeIds: plan.ids, startNode, input });
  const connections = await connectionErrors(db, projectId, drawing, plan);
  const pools = { pool: workflow.project_pool, pools: workflow.project_pools };
  const refused = poolErrors(plan, pools);
  const nodeErrors = [connections, refused, files.nodeErrors, lost, inputErrorsOf(document, inputErrors, lost)].reduce(
    mergeErrors,
    derivation.derived.nodeErrors,
  );
  const id = request.runId ?? randomUUID();
  const row = [projectId, id] as const;
  const facts = {
    id,
    workflow_id: workflow.id,
    workflow_version: workflow.version,
    project_id: projectId,
    user_id: request.userId,
    is_plain: isPlain(plan, drawing) && !hasPools(plan, pools.pool),
    ...sealInput(secretBox, row, { drawing, input, secrets: [...passedSecrets, ...secretTexts(secrets)] }),
    secrets_enc: sealSecrets(secretBox, secrets, 'run-secrets', ...row),
    ...(files.fileIds.length > 0 && { file_ids: files.fileIds }),
    ...(passedSecrets.length > 0 && { passed_secrets_enc: sealPassedSecrets(secretBox, passedSecrets, row) }),
  };
  return { ok: true, run: { facts, nodeErrors, drawing, document, plan } };
}

function deriveOnce({ cached, document }: DrawingToRun, secrets: SecretMap): ReturnType<typeof deriveDrawing> {
  return cached === undefined
    ? deriveDrawing(joinSecrets(document, secrets), secrets)
    : { ok: true, derived: cached.derived };
}

/**
 * Completes the input by `completeInput`. `********` stands for the stored value in a secret field, and counts as a
 * missing value in any other field.
 */
function fillInput(
  fields: readonly JsonObject[],
  { input, storedSecret }: RunToPrepare,
): ReturnType<typeof completeInput> {
  const defaults = new Map(fields.map((field) => [field['id'], defaultOf(field)]));
  return completeInput(
    fields,
    keepInputSecrets(fields, input, (fieldId) => storedSecret?.(fieldId) ?? defaults.get(fieldId)),
  );
}

/**
 * Returns the input with all secrets masked, and as `input_enc` the whole input sealed, or null if the input has no
 * secrets.
 */
function sealInput(
  secretBox: SecretBox,
  row: RunRow,
  { drawing, input, secrets }: { drawing: JsonObject; input: RunInput; secrets: string[] },
): { input: string; input_enc: Buffer | null } {
  const whole = writeJson(input);
  const { masked, secretValues } = maskInput(secretFieldsOf(drawing), input);
  const visible = writeJson(createMasker([...secretValues, ...secrets]).json(masked));
  return { input: visible, input_enc: visible === whole ? null : secretBox.seal(whole, 'run-input', ...row) };
}

/** The input errors of the start node. The error of a lost secret replaces the error that its field is required. */
function inputErrorsOf({ startNode }: Document, errors: Record<string, string>[], lost: NodeErrors): NodeErrors {
  const lostFields = new Set(
    (Object.hasOwn(lost, startNode) ? lost[startNode]! : []).flatMap((error) => Object.keys(error)),
  );
  const others = errors.filter((error) => !Object.keys(error).every((field) => lostFields.has(field)));
  return others.length === 0 ? {} : { [startNode]: others };
}

/**
 * Returns the errors of nodes whose connection doesn't exist in the project. If `plan` is passed, checks only the nodes
 * that it executes.
 */
export async function connectionErrors(
  db: Db,
  projectId: number,
  drawing: JsonObject,
  plan?: Pick<Plan, 'ids'>,
): Promise<NodeErrors> {
  const running = plan && new Set<unknown>(plan.ids);
  const named = connectionsIn(drawing).filter(({ node }) => running?.has(node['id']) ?? true);
  if (named.length === 0) return {};
  const found = await findConnectionsOf(
    db,
    projectId,
    named.map(({ id }) => id),
  );
  const known = new Set(found.map(({ id }) => id));
  const errors = new Map<string, Record<string, string>[]>();
  for (const { node, path, id } of named) {
    const nodeId = String(node['id']);
    if (!known.has(id)) pushTo(errors, nodeId, { [path]: UNKNOWN_CONNECTION });
  }
  return Object.fromEntries(errors);
}

/** Returns the errors of nodes that name a pool which the project does not have. */
export function poolErrors({ ids, pools = {} }: Plan, project: ProjectPools): NodeErrors {
  const allowed = allowedPools(project);
  const refused = Object.entries(pools).filter(([, pool]) => !allowed.includes(pool));
  const message = `Input should be a pool of the project: ${allowed.join(', ')}`;
  return Object.fromEntries(refused.map(([node]) => [ids[Number(node)]!, [{ 'settings.pool': message }]]));
}

const ERRORS_SHOWN = 5;

/** Writes the first errors of a run as one text, for runs that no request waits for. */
export function toSentences(errors: NodeErrors): string {
  const all = Object.entries(errors).flatMap(([nodeId, mistakes]) =>
    mistakes.flatMap((mistake) =>
      Object.entries(mistake).map(([place, text]) => `node ${nodeId}, ${place}: ${text.replace(/\.$/, '')}`),
    ),
  );
  const more = all.length > ERRORS_SHOWN ? `, and ${all.length - ERRORS_SHOWN} more` : '';
  return `${all.slice(0, ERRORS_SHOWN).join('; ')}${more}.`;
}
