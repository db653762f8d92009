import { isObject, ownValue } from '../../ui/json.js';
import { readRefusal } from '../node-result/result-parts.js';

/**
 * Returns `<label>, <field>: <sentence>` for each field of each node in the answer that refuses a run. There are none
 * for other answers.
 */
export function refusalsOf(body: unknown, labels: ReadonlyMap<string, string>): string[] {
  const nodes = ownValue(ownValue(body, 'data'), 'data');
  if (!isObject(nodes)) return [];
  return Object.entries(nodes).flatMap(([id, entry]) =>
    readRefusal(ownValue(entry, 'result')).map(
      ({ field, sentence }) => `${labels.get(id) ?? id}, ${field}: ${sentence}`,
    ),
  );
}
