// Arguments that a person puts in the place of those that the model has asked for. Extensions, section 7.
import type { ByteLease } from '../../outgoing/byte-budget.js';
import { findTools } from '../../db/agents/agent-tools.js';
import type { CurrentArguments } from '../../db/agents/approval-requests-repository.js';
import type { ArgumentsEdit } from '../../db/agents/approvals-repository.js';
import { hashArguments } from '../../db/agents/arguments-hash.js';
import { isEqualJson, isObject, type JsonObject } from '../../graph/json.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import { MASK } from '../../graph/secrets.js';
import type { AppDeps } from '../deps.js';
import { invalidFields } from '../http/errors.js';
import { readRunMasker } from '../runs/run-masker.js';
import { argumentsProblem } from './check-arguments.js';

type Deps = Pick<AppDeps, 'db' | 'secretBox' | 'memory' | 'processes'>;

/** Whether these are the arguments that would be sent anyway. */
export function isAlready(deps: Deps, current: CurrentArguments, given: JsonObject): boolean {
  return isEqualJson(given, openArguments(deps, current));
}

/** Throws the 400 for arguments that do not fit the schema of the tool. */
export async function toEdit(
  deps: Deps,
  current: CurrentArguments,
  given: JsonObject,
  { userId, memory, signal }: { userId: number; memory: ByteLease; signal: AbortSignal },
): Promise<ArgumentsEdit> {
  const before = openArguments(deps, current);
  const masker = await readRunMasker(deps, current.runId, memory);
  if (masker === undefined) throw new Error('a request without its run');
  if (holdsMask(given) && !isEqualJson(masker.json(before), before)) {
    throw wrongArguments(`${MASK} stands for a secret, which is not kept: write the value itself.`);
  }
  const tools = await findTools(deps.db, deps.secretBox, current);
  const tool = tools?.find(({ serverLabel, toolName }) => {
    return serverLabel === current.serverLabel && toolName === current.toolName;
  });
  const problem =
    tool === undefined
      ? 'the tool is not known any more'
      : await argumentsProblem(tool.parameters, given, { processes: deps.processes, userId, signal });
  if (problem !== undefined) throw wrongArguments(`The arguments do not fit the tool: ${problem}.`);
  const shown = masker.json(given);
  return {
    shown: writeJson(shown),
    sealed: deps.secretBox.seal(writeJson(given), 'agent-edit', current.requestId),
    hash: hashArguments(given, shown),
  };
}

function wrongArguments(message: string): Error {
  return invalidFields({ arguments: [message] });
}

/** As `parseArguments` of the worker reads them: some models send an empty text for an empty object. */
function openArguments(deps: Deps, current: CurrentArguments): JsonObject {
  const text = openText(deps, current);
  const value = text.trim() === '' ? {} : parseJson(text);
  return isObject(value) ? value : {};
}

/** Returns the arguments that would be sent now, as JSON text; empty once they have expired. */
function openText({ secretBox }: Deps, current: CurrentArguments): string {
  const { editedEnc, requestId, argumentsEnc, runId, path, nodeId, turn, ordinal } = current;
  if (editedEnc !== null) return secretBox.open(editedEnc, 'agent-edit', requestId);
  if (argumentsEnc === null || turn === null || ordinal === null) return '';
  return secretBox.open(argumentsEnc, 'agent-arguments', runId, path, nodeId, turn, ordinal);
}

/** In a text or a key. */
function holdsMask(given: JsonObject): boolean {
  return JSON.stringify(given).includes(MASK);
}
