// Reads what a mock or a pin says of a node.
import { cutText } from '../../graph/cut-text.js';
import { readTaskValues } from '../../acceptance/task-values.js';
import type { Db } from '../../db/core/client.js';
import type { DrawnNode } from '../../graph/document.js';
import { readGiven, type GivenOutcome } from '../../graph/given-outcome.js';
import { isObject, type JsonObject } from '../../graph/json.js';

/** Returns a text that says what is wrong, if anything is. An answer of a person is read as the task would read it. */
export async function readOutcome(
  db: Db,
  projectId: number,
  { kind, data }: Pick<DrawnNode, 'kind' | 'data'>,
  given: unknown,
): Promise<GivenOutcome | string> {
  const outcome = readGiven(kind, data, given);
  const isAnswer = kind === 'human' && isObject(given) && !Object.hasOwn(given, 'content');
  if (typeof outcome === 'string' || 'error' in outcome || !isAnswer) return outcome;
  const fields = Array.isArray(data['fields']) ? data['fields'].filter(isObject) : [];
  const entered = outcome.output['values'] as JsonObject;
  const { values, errors } = await readTaskValues(db, { projectId, fields, values: entered });
  const [wrong] = errors.flatMap((error) => Object.entries(error));
  if (wrong !== undefined) return `values.${cutText(wrong[0], 100)}: ${wrong[1]}`;
  return { ...outcome, output: { ...outcome.output, values } };
}
