import { asText, isObject, type JsonObject } from '../../graph/json.js';

export interface Exported {
  title: string | undefined;
  data: JsonObject;
}

/** A file as `Export` writes it, or a bare drawing. Undefined: anything else. */
export function parseExported(text: string): Exported | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const data = isObject(value['data']) ? value['data'] : value;
  if (!Array.isArray(data['nodes']) || !data['nodes'].every(isObject)) return undefined;
  const title = data === value ? undefined : asText(value['title'])?.trim().slice(0, 255);
  return { title: title === '' ? undefined : title, data };
}
