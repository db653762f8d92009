// Reuses the input of an earlier run in a new run, whose drawing may have changed.
import { createMasker } from './mask.js';
import type { JsonObject } from './json.js';
import { isSecretField, maskInput, secretStrings, type SecretMap } from './secrets.js';
import type { RunInput } from './variable.js';

interface Drawn {
  fields: readonly JsonObject[];
  secrets: SecretMap;
}

/**
 * A value that was secret in the earlier run stays hidden. If its field is no longer secret, `********` replaces the
 * value in the field and its text wherever else it occurs in the input. An update that makes a field public does the
 * same.
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
