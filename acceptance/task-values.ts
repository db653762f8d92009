// Reads the values that a person, or a mock of their answer, enters in a human task.
import type { Db } from '../db/core/client.js';
import { completeInput, fieldIdsOf } from '../graph/input.js';
import { isEmpty, ownValue, type JsonObject } from '../graph/json.js';
import { MASK } from '../graph/mask-text.js';
import { isSecretField, keepInputSecrets } from '../graph/secrets.js';
import { resolveRunFiles } from './run-files.js';

interface TaskValues {
  /** The values of the task's fields, with the defaults of omitted fields. */
  values: JsonObject;
  fileIds: string[];
  /** Each is `{<field id>: message}`. */
  errors: Record<string, string>[];
}

interface Entered {
  projectId: number;
  fields: readonly JsonObject[];
  values: JsonObject;
}

/**
 * Fills in defaults, and checks the values and files. A secret field with a default may stay empty: the stored task
 * shows its default as `********`, and the run fills in the real value.
 */
export async function readTaskValues(db: Db, { projectId, fields, values }: Entered): Promise<TaskValues> {
  const declared = fieldIdsOf(fields);
  const own = Object.fromEntries(Object.entries(values).filter(([id]) => declared.has(id)));
  const entered = keepInputSecrets(fields, own, () => undefined);
  const isFilledIn = (field: JsonObject): boolean =>
    isSecretField(field) && field['default_value'] === MASK && isEmpty(ownValue(entered, String(field['id'])));
  const completed = completeInput(
    fields.map((field) => (isFilledIn(field) ? { ...field, input_requirements: false } : field)),
    entered,
  );
  const request = { projectId, fields, input: completed.input };
  const { input, inputErrors, fileIds } = await resolveRunFiles(db, request);
  return { values: input as JsonObject, fileIds, errors: [...completed.errors, ...inputErrors] };
}
