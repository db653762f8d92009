// Accepts a person's answer to a human task. Postgres decides which answers count
// (db/human-tasks/answers-repository.ts).
import type { ByteLease } from '../../memory/byte-budget.js';
import type { Logger } from '../../telemetry/logger.js';
import { unlessFileGone } from '../../db/files/references-repository.js';
import { storeAnswer } from '../../db/human-tasks/answers-repository.js';
import { findTaskInReach, type HumanTask } from '../../db/human-tasks/tasks-repository.js';
import type { Reach } from '../../db/access/reach.js';
import type { JsonObject } from '../../graph/json.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import { createMasker, type Masker } from '../../graph/mask.js';
import { maskInput } from '../../graph/secrets.js';
import type { AuditTrail } from '../http/audit-rule.js';
import type { HumanTaskDeps } from './deps.js';
import { ApiError, invalidFields, notFound, permissionDenied, type FieldErrors } from '../http/errors.js';
import type { Asker } from '../http/heavy-work.js';
import { readRunMasker } from '../runs/run-masker.js';
import { linkRequestToRun } from '../runs/run-traces.js';
import { findVisible } from '../access/authorize.js';
import { readTaskValues } from '../../acceptance/task-values.js';
import { deliverWake } from '../../acceptance/wake-run.js';

interface SentAnswer {
  action: string;
  values: JsonObject;
  comment: string;
}

interface Asked {
  taskId: string;
  reach: Reach;
  sent: SentAnswer;
}

interface Asking extends Asker {
  log: Logger;
  memory: ByteLease;
  audit: AuditTrail;
}

/**
 * Returns the task after the answer. Throws 404 for a task that the person may not see, and 403 for a person who may
 * not answer or whose API key is restricted to another project. Throws 400 for an unknown action, an empty required
 * field or a value that does not fit its field. Throws 409 `settled` or `already_answered`.
 */
export async function answerTask(deps: HumanTaskDeps, asking: Asking, asked: Asked): Promise<HumanTask> {
  for (;;) {
    const answered = await tryToAnswer(deps, asking, asked).catch(unlessFileGone);
    if (answered !== undefined) return answered;
  }
}

async function tryToAnswer(
  deps: HumanTaskDeps,
  { log, audit, ...asker }: Asking,
  { taskId, reach, sent }: Asked,
): Promise<HumanTask> {
  const task = await findVisible(reach, (within) => findTaskInReach(deps.db, taskId, within));
  if (!task.is_assigned) throw permissionDenied('You are not among those who may answer this task.');
  if (task.status !== 'pending') throw settled();
  if (task.has_answered) throw answeredBefore();
  const { values, fileIds } = await checkAnswer(deps, task, sent);
  await linkRequestToRun(deps, task.run_id);
  const masker = await readRunMasker(deps, task.run_id, asker);
  // The run was deleted meanwhile.
  if (masker === undefined) throw notFound();
  const stored = toStored(deps, masker, { row: [taskId, reach.userId], task, sent, values });
  const answer = { taskId, userId: reach.userId, fileIds, ...stored };
  const outcome = await audit.change((trx) => storeAnswer(trx, answer), {
    keyOf: ({ status }) => (status === 'kept' || status === 'settled' ? { id: taskId } : undefined),
  });
  if (outcome.status === 'unknown') throw notFound();
  if (outcome.status === 'closed') throw settled();
  if (outcome.status === 'repeated') throw answeredBefore();
  if (outcome.status === 'settled') await deliverWake({ ...deps, logger: log }, outcome.wait);
  return (await findTaskInReach(deps.db, taskId, reach)) ?? task;
}

function settled(): ApiError {
  return new ApiError(
    409,
    'settled',
    'The task has been settled: it was answered, its time is over, or its run has ended.',
  );
}

function answeredBefore(): ApiError {
  return new ApiError(409, 'already_answered', 'You have answered this task before.');
}

async function checkAnswer(
  { db }: HumanTaskDeps,
  task: HumanTask,
  { action, values }: SentAnswer,
): Promise<{ values: JsonObject; fileIds: string[] }> {
  const actions = parseJson(task.actions) as { id: string }[];
  const wrong: FieldErrors = {};
  if (!actions.some(({ id }) => id === action)) wrong['action'] = [`"${action}" is not a valid choice.`];
  const fields = parseJson(task.fields) as JsonObject[];
  const { errors, ...read } = await readTaskValues(db, { projectId: task.project.id, fields, values });
  for (const [field, message] of errors.flatMap((error) => Object.entries(error))) wrong[`values.${field}`] = [message];
  if (Object.keys(wrong).length > 0) throw invalidFields(wrong);
  return read;
}

interface CheckedAnswer {
  row: [taskId: string, userId: number];
  task: HumanTask;
  sent: SentAnswer;
  values: JsonObject;
}

/** The run gets the values as entered; readers get them with secret fields and the run's secrets masked. */
function toStored({ secretBox }: HumanTaskDeps, masker: Masker, { row, task, sent, values }: CheckedAnswer) {
  const whole = writeJson(values);
  const { masked, secretValues } = maskInput(parseJson(task.fields) as JsonObject[], values);
  const own = createMasker(secretValues);
  const entered = writeJson(own.json(masker.json(masked)));
  const enteredEnc = entered === whole ? null : secretBox.seal(whole, 'human-answer', ...row);
  return { action: sent.action, entered, enteredEnc, comment: own.text(masker.text(sent.comment)) };
}
