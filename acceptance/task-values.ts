// Reads the values that a person, or a mock in their place, enters in a task.
import type { Db } from '../db/core/client.js';
import { completeInput, fieldIdsOf } from '../graph/input.js';
import { isEmpty, ownValue, type JsonObject } from '../graph/json.js';
import { MASK } from '../graph/mask-text.js';
import { isSecretField, keepInputSecrets } from '../graph/secrets.js';
import { takeRunFiles } from './run-files.js';

interface TaskValues {
  /** The values of the task's fields, with the defaults of those that were left out. */
  values: JsonObject;
  /** The files among them. */
  fileIds: string[];
  /** `{<field id>: message}` each. */
  errors: Record<string, string>[];
}

interface Entered {
  projectId: number;
  fields: readonly JsonObject[];
  values: JsonObject;
}

/** The run fills in defaults that are secret, for which a task that was stored has `********`. */
export async function readTaskValues(db: Db, { projectId, fields, values }: Entered): Promise<TaskValues> {
  const declared = fieldIdsOf(fields);
  const own = Object.fromEntries(Object.entries(values).filter(([id]) => declared.has(id)));
  const given = keepInputSecrets(fields, own, () => undefined);
  const isFilledIn = (field: JsonObject): boolean =>
    isSecretField(field) && field['default_value'] === MASK && isEmpty(ownValue(given, String(field['id'])));
  const completed = completeInput(
    fields.map((field) => (isFilledIn(field) ? { ...field, input_requirements: false } : field)),
    given,
  );
  const taking = { projectId, fields, input: completed.input, drawing: {}, plan: { ids: [] } };
  const { input, inputErrors, fileIds } = await takeRunFiles(db, taking);
  return { values: input as JsonObject, fileIds, errors: [...completed.errors, ...inputErrors] };
}
