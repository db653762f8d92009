// Numbers that a client library would have to hold as JavaScript's own, which are too small for them: they pass through it
// as texts that nobody else can have written, and become numbers again in the body that leaves.
import { randomUUID } from 'node:crypto';

const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}(-?[\\d.eE+-]+)"`, 'g');

/** `number`: as JSON writes it. */
export function markNumber(number: string): string {
  return `${MARK}${number}`;
}

export function unmarkNumbers(json: string): string {
  return json.includes(MARK) ? json.replace(MARKED, '$1') : json;
}
