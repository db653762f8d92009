// A node that asks people. Its first step creates the task, and its second step ends the task (end-wait.ts).
import type { WaitFacts } from '../../contract/activities.js';
import { readClock } from '../../db/core/clock.js';
import { askPeople, closeTask, findChosen } from '../../db/human-tasks/task-life.js';
import type { Role } from '../../db/core/tables.js';
import { passSecrets } from '../../db/runs/passed-secrets.js';
import { completeInput } from '../../graph/input.js';
import { isEmpty, type JsonObject } from '../../graph/json.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import { createMasker, type Masker } from '../../graph/mask.js';
import { actionsOf, humanNode, type HumanNodeData } from '../../graph/nodes/human.js';
import { DEFAULT_TIMEOUT_SECONDS } from '../../graph/nodes/shared-fields.js';
import { FIRST_LISTED_HANDLE, type Handle } from '../../graph/plan.js';
import { MASK } from '../../graph/mask-text.js';
import { isSecretField, maskInput } from '../../graph/secrets.js';
import { toStorable } from '../../graph/storable-text.js';
import { renderJson, renderText } from '../../graph/template.js';
import { cutText } from '../../graph/cut-text.js';
import { NodeFailure } from '../node/failures.js';
import { refuseInCase } from './refuse-in-case.js';
import type { NodeOutcome, NodeStep, NodeTask } from '../node/node-step.js';
import { RECORDING_FACTOR } from '../node/payload-weight.js';
import { findShownFiles } from './shown-files.js';
import { toWaitFacts, endedWait, type WaitDeps } from './wait-deps.js';

/** Longer text is cut after rendering. */
const MAX_MESSAGE_CHARACTERS = 65_536;
const CUT = '\n\n[cut: the text is longer]';
/** Asked if the node names nobody: the roles that may run the workflow. */
const DEFAULT_ROLES: Role[] = ['owner', 'admin', 'editor'];

/** Needs no claim, because one transaction starts the node and creates its task. */
export function createAskStep({ db, contexts }: WaitDeps): NodeStep<WaitFacts> {
  return {
    isClaimed: false,
    factsOf: () => endedWait('human'),
    async run(task) {
      refuseInCase(task);
      const data = humanNode.schema.parse(task.node.data);
      const { masker } = task.run;
      const values = await contexts.loadValues(task, [data.message, data.files]);
      const message = masker.text(renderText(data.message, values));
      const files = await findShownFiles(db, task, renderJson(data.files ?? [], values));
      const nowMs = await readClock(db);
      const wait = await askPeople(db, task, {
        label: task.node.label,
        message: toStored(message),
        files: writeJson(files),
        fileIds: files.map(({ file_id: id }) => id),
        fields: writeJson(maskAllButIds((data.fields ?? []).map(withoutSecret), masker)),
        actions: writeJson(maskAllButIds(actionsOf(data), masker)),
        ...(task.run.isTest ? onlyStarter(task) : assigneesOf(data)),
        untilMs: nowMs + Math.round((data.timeout ?? DEFAULT_TIMEOUT_SECONDS) * 1000),
      });
      return { facts: toWaitFacts(wait, nowMs) };
    },
  };
}

/** `********` shows that the field has a default without revealing the default. A lost default becomes empty. */
function withoutSecret<Field extends JsonObject>(field: Field): Field {
  const { default_value: value } = field;
  if (!isSecretField(field) || isEmpty(value)) return field;
  return { ...field, default_value: value === MASK ? '' : MASK };
}

/** Ids are not masked, because they are part of the drawing and answers refer to them. */
function maskAllButIds<Item extends { id: unknown }>(items: readonly Item[], masker: Masker): Item[] {
  return items.map((item) => ({ ...masker.json(item), id: item.id }));
}

/** Lists without any role or user count as absent, because somebody must be able to answer. */
function assigneesOf({ assignees, exclude_starter: excludeStarter, required }: HumanNodeData): Asked {
  const roles = assignees?.roles ?? [];
  const users = assignees?.users ?? [];
  const people = roles.length + users.length > 0 ? { roles, users } : { roles: DEFAULT_ROLES, users: [] };
  return { ...people, excludeStarter: excludeStarter ?? false, required: required ?? 1 };
}

type Asked = Pick<Parameters<typeof askPeople>[2], 'roles' | 'users' | 'excludeStarter' | 'required'>;

/** In a test run, only the user who started it is asked. */
function onlyStarter({ run }: NodeTask): Asked {
  return { roles: [], users: [run.userId], excludeStarter: false, required: 1 };
}

function toStored(message: string): string {
  const text = toStorable(message);
  return text.length > MAX_MESSAGE_CHARACTERS ? cutText(text, MAX_MESSAGE_CHARACTERS) + CUT : text;
}

/**
 * Returns undefined if the task is not over yet. Throws `human_timeout` if too few people have answered in time, and
 * `too_many_secrets` if the entered secrets exceed those that a run may have.
 */
export async function endTask({ db, secretBox }: WaitDeps, task: NodeTask): Promise<NodeOutcome | undefined> {
  const settled = await closeTask(db, task);
  if (settled === undefined) return undefined;
  if (settled.action === null) throw new NodeFailure('human_timeout', 'Not enough people have answered in time.');
  const answers = await findChosen(db, settled);
  const last = answers.at(-1)!;
  await task.memory.resize(RECORDING_FACTOR * (last.entered.length + (last.enteredEnc?.length ?? 0)));
  const { action } = settled;
  const { entered, enteredEnc, comment } = last;
  const data = humanNode.schema.parse(task.node.data);
  const fields = data.fields ?? [];
  const enteredValues = parseJson(
    enteredEnc === null ? entered : secretBox.open(enteredEnc, 'human-answer', settled.taskId, last.userId),
  ) as JsonObject;
  const values = completeInput(fields, enteredValues).input;
  const { masked, secretValues } = maskInput(fields, values);
  const toOutput = (of: unknown) => {
    return { content: action, action, values: of, comment, answered_by: answers.map(({ userId }) => userId) };
  };
  const handle = handleOf(data, action);
  const outcome = { output: toOutput(values), ...(handle !== 0 && { handle }) };
  if (secretValues.length === 0) return outcome;
  // The run masks the entered secrets before it stores anything that may contain them.
  if (!(await passSecrets(db, secretBox, task.runId, secretValues))) {
    throw new NodeFailure('too_many_secrets', 'The secrets that the run has got have too many characters.');
  }
  return { ...outcome, publicOutput: createMasker(secretValues).json(toOutput(masked)) };
}

/** A task without a list of actions continues by the ordinary links. */
function handleOf({ actions }: HumanNodeData, action: string): Handle {
  const index = (actions ?? []).findIndex(({ id }) => id === action);
  return index === -1 ? 0 : FIRST_LISTED_HANDLE + index;
}
