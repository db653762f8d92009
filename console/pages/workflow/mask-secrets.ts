import { MASK } from '../../forms/mask.js';
import { isObject } from '../../graph/json.js';

/** As the service names credentials among headers. */
const CREDENTIAL = /^(?:authorization|proxy-authorization|cookie|.*[-_](?:key|token)|key|token)$/i;

/** The drawing with secrets that were written, but not saved yet, masked as the service masks stored ones. */
export function maskSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskSecrets);
  if (!isObject(value)) return value;
  const isSecret = value['is_secret'] === true;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      if (isSecret && key === 'default_value') return [key, mask(part)];
      if (key === 'headers' && isObject(part)) return [key, maskHeaders(part)];
      return [key, maskSecrets(part)];
    }),
  );
}

function maskHeaders(headers: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, CREDENTIAL.test(name) ? mask(value) : value]),
  );
}

function mask(value: unknown): unknown {
  return value === undefined || value === null || value === '' ? value : MASK;
}
