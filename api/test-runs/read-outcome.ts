// Reads the outcome that a mock or a pin sets for a node.
import { cutText } from '../../graph/cut-text.js';
import { readTaskValues } from '../../acceptance/task-values.js';
import type { Db } from '../../db/core/client.js';
import type { DrawnNode } from '../../graph/document.js';
import { readFixedOutcome, type FixedOutcome } from '../../graph/fixed-outcome.js';
import { isObject, type JsonObject } from '../../graph/json.js';

/**
 * Returns an error message if the outcome is malformed. A person's answer is validated as the task itself would
 * validate it.
 */
export async function readOutcome(
  db: Db,
  projectId: number,
  { kind, data }: Pick<DrawnNode, 'kind' | 'data'>,
  sent: unknown,
): Promise<FixedOutcome | string> {
  const outcome = readFixedOutcome(kind, data, sent);
  const isAnswer = kind === 'human' && isObject(sent) && !Object.hasOwn(sent, 'content');
  if (typeof outcome === 'string' || 'error' in outcome || !isAnswer) return outcome;
  const fields = Array.isArray(data['fields']) ? data['fields'].filter(isObject) : [];
  const entered = outcome.output['values'] as JsonObject;
  const { values, errors } = await readTaskValues(db, { projectId, fields, values: entered });
  const [wrong] = errors.flatMap((error) => Object.entries(error));
  if (wrong !== undefined) return `values.${cutText(wrong[0], 100)}: ${wrong[1]}`;
  return { ...outcome, output: { ...outcome.output, values } };
}
