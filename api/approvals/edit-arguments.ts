// Checks, masks and seals the arguments with which a person replaces those of the model (docs/use/approvers.md, "Change
// the arguments"). The decision stores the result (db/agents/approvals-repository.ts).
import { findTools, type AgentTool } from '../../db/agents/agent-tools.js';
import type { CurrentArguments } from '../../db/agents/approval-requests-repository.js';
import type { ArgumentsEdit } from '../../db/agents/approvals-repository.js';
import { hashArguments } from '../../db/agents/arguments-hash.js';
import { valueErrors } from '../../graph/actions/check-values.js';
import { writeJson } from '../../graph/json-text.js';
import { isEqualJson, type JsonObject } from '../../graph/json.js';
import { MASK } from '../../graph/mask-text.js';
import { readArguments } from '../../graph/tool-arguments.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { ProcessesBusyError, type Processes } from '../../processes/processes.js';
import type { ApprovalDeps } from './deps.js';
import { invalidFields, overloaded } from '../http/errors.js';
import type { Asker } from '../http/heavy-work.js';
import { readRunMasker } from '../runs/run-masker.js';

type Deps = Pick<ApprovalDeps, 'db' | 'secretBox' | 'memory' | 'processes' | 'heavyWork'>;

/** True if `edited` has the arguments that would be sent without the change. */
export function isAlready(deps: Deps, current: CurrentArguments, edited: JsonObject): boolean {
  return isEqualJson(edited, openArguments(deps, current));
}

/**
 * Throws 400 for arguments that do not fit the tool, that have a mask in the place of a secret, or whose tool is not
 * known any more. Throws 503 while the service is too busy for the check.
 */
export async function toEdit(
  deps: Deps,
  current: CurrentArguments,
  edited: JsonObject,
  { userId, ...asker }: Asker & { userId: number; memory: ByteLease },
): Promise<ArgumentsEdit> {
  const before = openArguments(deps, current);
  const masker = await readRunMasker(deps, current.runId, asker);
  if (masker === undefined) throw new Error('a request without its run');
  if (holdsMask(edited) && !isEqualJson(masker.json(before), before)) {
    throw wrongArguments(`${MASK} stands for a secret, which is not kept: write the value itself.`);
  }
  const tools = await findTools(deps.db, deps.secretBox, current);
  const tool = tools?.find(({ serverLabel, toolName }) => {
    return serverLabel === current.serverLabel && toolName === current.toolName;
  });
  const problem =
    tool === undefined
      ? 'the tool is not known any more'
      : ((await argumentsProblem(tool.parameters, edited, {
          processes: deps.processes,
          userId,
          signal: asker.signal,
        })) ?? actionProblem(tool, edited));
  if (problem !== undefined) throw wrongArguments(`The arguments do not fit the tool: ${problem}.`);
  const shown = masker.json(edited);
  return {
    shown: writeJson(shown),
    sealed: deps.secretBox.seal(writeJson(edited), 'agent-edit', current.requestId),
    hash: hashArguments(edited, shown),
  };
}

/** Checks the arguments of an action by its fields, too, as the worker does before the call. */
function actionProblem({ toolIndex, parameters }: AgentTool, edited: JsonObject): string | undefined {
  if (toolIndex === undefined) return undefined;
  const [first] = Object.entries(valueErrors({ fields: parameters }, edited));
  return first?.join(': ');
}

function wrongArguments(message: string): Error {
  return invalidFields({ arguments: [message] });
}

function openArguments(deps: Deps, current: CurrentArguments): JsonObject {
  return readArguments(openText(deps, current)).parsed ?? {};
}

/** Returns the arguments that would be sent now, as JSON text; empty once they have expired. */
function openText({ secretBox }: Deps, current: CurrentArguments): string {
  const { editedEnc, requestId, argumentsEnc, runId, path, nodeId, turn, ordinal } = current;
  if (editedEnc !== null) return secretBox.open(editedEnc, 'agent-edit', requestId);
  if (argumentsEnc === null || turn === null || ordinal === null) return '';
  return secretBox.open(argumentsEnc, 'agent-arguments', runId, path, nodeId, turn, ordinal);
}

function holdsMask(edited: JsonObject): boolean {
  return JSON.stringify(edited).includes(MASK);
}

// Validates arguments against the JSON Schema of a tool in a separate process. The tool's server wrote the schema, and
// a hostile schema may never finish.

const CHECK_WITHIN_MS = 3_000;
/** A check is answered with 503 if this many tasks of the user, of any kind, wait for a process. */
const MAX_WAITING = 8;

interface Checking {
  processes: Processes;
  userId: number;
  signal: AbortSignal;
}

/**
 * Returns the error, such as `/items/0/price must be number`; undefined if the arguments fit. Throws 503 if too many
 * tasks of the user wait for a process, or if no process could be started.
 */
async function argumentsProblem(
  schema: JsonObject,
  edited: JsonObject,
  { processes, userId, signal }: Checking,
): Promise<string | undefined> {
  const work = { kind: 'schema', schema: writeJson(schema), value: writeJson(edited) } as const;
  const options = { owner: userId, signal, limitMs: CHECK_WITHIN_MS, maxWaiting: MAX_WAITING };
  const reply = await processes.run(work, options).catch((error: unknown) => {
    throw error instanceof ProcessesBusyError ? overloaded() : error;
  });
  return reply?.kind === 'checked' ? reply.problem : 'the schema of the tool cannot be used to check them';
}
