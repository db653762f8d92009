// Why the service has refused to run a workflow again.
import { isObject, ownValue } from '../../../drawing/json.js';
import { readRefusal } from '../node/result-parts.js';

/** Of the body of a refused re-run: `<label>, <field>: <sentence>` for each field of each node; empty for other answers. */
export function refusalsOf(body: unknown, labels: ReadonlyMap<string, string>): string[] {
  const nodes = ownValue(ownValue(body, 'data'), 'data');
  if (!isObject(nodes)) return [];
  return Object.entries(nodes).flatMap(([id, entry]) =>
    readRefusal(ownValue(entry, 'result')).map(
      ({ field, sentence }) => `${labels.get(id) ?? id}, ${field}: ${sentence}`,
    ),
  );
}
