import type { NodeKind } from './drawing.js';
import { isObject, type JsonObject } from '../../graph/json.js';

/** `format` of fields that name a model. */
export const MODEL = 'model';

/** Lets new nodes begin with the model if it is the only one. */
export function withOnlyModel(kinds: readonly NodeKind[], models: readonly { id: string }[]): readonly NodeKind[] {
  const [only, other] = models;
  if (only === undefined || other !== undefined) return kinds;
  return kinds.map((kind) => ({ ...kind, schema: startWith(kind.schema, only.id) }));
}

function startWith(schema: JsonObject, model: string): JsonObject {
  const entries = Object.entries(schema).map(([key, part]) => {
    if (!isObject(part)) return [key, part] as const;
    return [key, part['format'] === MODEL ? { ...part, start: model } : startWith(part, model)] as const;
  });
  return Object.fromEntries(entries);
}
