// The input of an earlier run, taken over by a new run of a drawing that may have changed since.
import { createMasker } from './mask.js';
import type { JsonObject } from './json.js';
import { isSecretField, maskInput, secretStrings, type SecretMap } from './secrets.js';
import type { RunInput } from './variable.js';

interface Drawn {
  fields: readonly JsonObject[];
  secrets: SecretMap;
}

/**
 * What was secret then stays out of sight now: a value whose field is no longer secret is not taken over but stands as
 * `********`, as in an update that makes a field public, and so does its text wherever else it stands in the input.
 */
export function reuseInput(input: RunInput, then: Drawn, now: Drawn): RunInput {
  const secretNow = new Set(now.fields.filter(isSecretField).map(({ id }) => id));
  const published = then.fields.filter((field) => isSecretField(field) && !secretNow.has(field['id']));
  const kept = new Set([...maskInput(now.fields, input).secretValues, ...textsOf(now.secrets)]);
  const revealed = [...maskInput(then.fields, input).secretValues, ...textsOf(then.secrets)];
  const masker = createMasker(revealed.filter((text) => !kept.has(text)));
  return masker.json(maskInput(published, input).masked);
}

function textsOf(secrets: SecretMap): string[] {
  return Object.values(secrets).flatMap(secretStrings);
}
