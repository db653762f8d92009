/** A value as it is edited: JSON, or the bare text where that cannot be taken for JSON. */
export function toJsonText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string' && !isJson(value) && value !== '') return value;
  return JSON.stringify(value, null, 2);
}

/** Undefined for nothing; JSON; else the text itself, which variables such as `{{ input.order }}` are. */
export function fromJsonText(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
