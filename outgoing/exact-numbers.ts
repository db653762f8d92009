// Passes exact numbers through a client library that holds numbers as doubles. They pass as strings with a random mark,
// and become numbers again in the body that is sent.
import { randomUUID } from 'node:crypto';

const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}(-?[\\d.eE+-]+)"`, 'g');

/** `number` is the text of a JSON number. */
export function markNumber(number: string): string {
  return `${MARK}${number}`;
}

export function unmarkNumbers(json: string): string {
  return json.includes(MARK) ? json.replace(MARKED, '$1') : json;
}
