// JSON as it is shown: numbers keep the digits with which they are written.

/** A number whose digits JavaScript would round. */
export class WrittenNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Reviver = (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown;

/** The value of a text that is a JSON object or array; undefined for any other text. */
export function parseStructure(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text, keepDigits) as object;
  } catch {
    return undefined;
  }
}

/** Newer browsers tell how a number was written; in older ones it is what JavaScript makes of it. */
const keepDigits: Reviver = (_key, value, context) => {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return String(value) === context.source ? value : new WrittenNumber(context.source);
};

/** `JSON.parse`, whose numbers `JSON.stringify` writes as they were written. Throws what `JSON.parse` throws. */
export function parseExact(text: string): unknown {
  const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
  const keep: Reviver = (_key, value, context) => {
    const source = typeof value === 'number' ? context?.source : undefined;
    return source === undefined || rawJSON === undefined || String(value) === source ? value : rawJSON(source);
  };
  return JSON.parse(text, keep) as unknown;
}

/** Two blanks a level; for a copy or a download. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}

/** What a value is in one word or two: `{3}`, `[12]`, or the value itself. */
export function summaryOf(value: object): string {
  if (Array.isArray(value)) return value.length === 1 ? '1 item' : `${value.length} items`;
  const count = Object.keys(value).length;
  return count === 1 ? '1 field' : `${count} fields`;
}

export function isStructure(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof WrittenNumber);
}
