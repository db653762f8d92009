import { isObject, ownValue } from '../../../graph/json.js';
import { readRefusal } from '../node-result/result-parts.js';

/** Returns `<label>, <field>: <sentence>` for each refused field of each node. Empty if the body is not a refusal. */
export function refusalsOf(body: unknown, labels: ReadonlyMap<string, string>): string[] {
  const nodes = ownValue(ownValue(body, 'data'), 'data');
  if (!isObject(nodes)) return [];
  return Object.entries(nodes).flatMap(([id, entry]) =>
    readRefusal(ownValue(entry, 'result')).map(
      ({ field, sentence }) => `${labels.get(id) ?? id}, ${field}: ${sentence}`,
    ),
  );
}
