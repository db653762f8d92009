// Prepares the drawing of a run that resumes an earlier one: the earlier drawing, or the present one. Also finds the
// secrets of an earlier run that a new run, a pin or a case must mask.
import { randomUUID } from 'node:crypto';
import { openSecrets } from '../../../acceptance/opened-drawing.js';
import { prepareRun, type PreparedRun } from '../../../acceptance/prepare-run.js';
import type { SecretBox } from '../../../db/core/secret-box.js';
import { arePassable } from '../../../db/runs/passed-secrets.js';
import type { EarlierRun } from '../../../db/resume/resume-repository.js';
import { openRunContents, openRunSecrets, readSecrets, type RunContents } from '../../../db/runs/run-contents.js';
import type { StoredDrawing } from '../../../db/workflows/workflows-repository.js';
import type { PlannedDrawing } from '../../../graph/changed-nodes.js';
import { readDrawing } from '../../../graph/document.js';
import { secretFieldsOf, type RunInput } from '../../../graph/input.js';
import { isPlain } from '../../../graph/plain-plan.js';
import type { Plan } from '../../../graph/plan.js';
import { hasPools } from '../../../graph/pools.js';
import { joinSecrets, maskInput, secretTexts } from '../../../graph/secrets.js';
import type { RunDeps } from '../deps.js';
import { ApiError } from '../../http/errors.js';
import { toReRunRequest } from '../re-run.js';
import { invalidNodesEnvelope, structuralEnvelope, type Envelope } from '../../envelope/run-envelope.js';

export interface Drawn {
  run: Omit<PreparedRun, 'nodeErrors'>;
  snapshotHash?: Buffer;
  stored: { document: Record<string, unknown>; plan: Plan };
}

export function drawingThen(secretBox: SecretBox, earlier: EarlierRun): PlannedDrawing {
  const { document, plan, secretsEnc, projectId, id } = earlier;
  const secrets = openRunSecrets(secretBox, secretsEnc, [projectId, id]);
  return { drawing: joinSecrets(document, secrets), plan };
}

/** Input and secrets are those of the earlier run. They are sealed again, because a seal is bound to a run's id. */
export function asItWas(
  { secretBox }: RunDeps,
  { project_pool: pool }: Pick<StoredDrawing, 'project_pool'>,
  earlier: EarlierRun,
  userId: number,
): Drawn {
  const { document, plan, snapshotHash, inputEnc, secretsEnc, passedSecretsEnc, projectId } = earlier;
  const { drawing } = drawingThen(secretBox, earlier);
  const id = randomUUID();
  const move = (sealed: Buffer | null, context: 'run-input' | 'run-secrets' | 'passed-secrets'): Buffer | null =>
    sealed && secretBox.seal(secretBox.open(sealed, context, projectId, earlier.id), context, projectId, id);
  const passed = move(passedSecretsEnc, 'passed-secrets');
  const facts = {
    id,
    workflow_id: earlier.workflowId,
    workflow_version: earlier.workflowVersion,
    project_id: projectId,
    user_id: userId,
    is_plain: isPlain(plan, drawing) && !hasPools(plan, pool),
    input: earlier.input,
    input_enc: move(inputEnc, 'run-input'),
    secrets_enc: move(secretsEnc, 'run-secrets'),
    ...(passed !== null && { passed_secrets_enc: passed }),
    resumed_from: earlier.id,
  };
  const run = { facts, plan, drawing, document: readDrawing(drawing).document };
  return { run, snapshotHash, stored: { document, plan } };
}

/**
 * The input is reused as in a re-run. Reused results may hold secrets of the earlier run, which the new run must mask.
 */
export async function asItIsNow(
  deps: RunDeps,
  workflow: StoredDrawing,
  earlier: EarlierRun,
  userId: number,
): Promise<Drawn | { refusal: Envelope }> {
  const reused = await toReRunRequest(deps, { workflow, originalRunId: earlier.id, input: undefined });
  const passedSecrets = secretsThen(deps.secretBox, workflow, earlier, reused.input);
  const prepared = await prepareRun(deps, { ...reused, workflow, userId, passedSecrets });
  if (!prepared.ok) return { refusal: structuralEnvelope(prepared.errors) };
  const { nodeErrors, ...run } = prepared.run;
  if (Object.keys(nodeErrors).length > 0) return { refusal: invalidNodesEnvelope(null, nodeErrors) };
  const facts = { ...run.facts, resumed_from: earlier.id };
  return { run: { ...run, facts }, stored: { document: workflow.document, plan: run.plan } };
}

/**
 * Returns the secrets of the earlier run that a run of the workflow would not mask by itself. `input` is the input of
 * that run. Throws 400 if the secrets are too long to be stored.
 */
export function secretsThen(
  secretBox: SecretBox,
  workflow: StoredDrawing,
  earlier: EarlierRun,
  input: RunInput,
): string[] {
  return secretsToPass(secretBox, workflow, input, openEarlier(secretBox, earlier).secretTexts);
}

/** Returns all secrets that the run masked. Throws 400 if they are too long to be stored. */
export function secretsOfRun(secretBox: SecretBox, earlier: EarlierRun): string[] {
  return passable([...new Set(openEarlier(secretBox, earlier).secretTexts)]);
}

function openEarlier(secretBox: SecretBox, earlier: EarlierRun): RunContents {
  const contents = {
    ...earlier,
    runId: earlier.id,
    userId: 0,
    depth: 0,
    rootRunId: earlier.id,
    isResumed: false,
    isStarted: true,
    isTest: false,
    isAssistant: false,
    traceparent: null,
  };
  return openRunContents(contents, readSecrets(earlier.document), secretBox);
}

/**
 * Returns those of the secrets that a run of the workflow with this input would not mask by itself. Throws 400 if they
 * are too long to be stored.
 */
export function secretsToPass(
  secretBox: SecretBox,
  workflow: StoredDrawing,
  input: RunInput,
  secrets: readonly string[],
): string[] {
  const { secretValues } = maskInput(secretFieldsOf(workflow.document), input);
  const own = new Set([...secretValues, ...secretTexts(openSecrets(secretBox, workflow))]);
  return passable([...new Set(secrets)].filter((secret) => !own.has(secret)));
}

function passable(secrets: string[]): string[] {
  if (arePassable(secrets)) return secrets;
  throw new ApiError(
    400,
    'too_many_secrets',
    'The secrets of the earlier run have too many characters to be handed on.',
  );
}
