import { renderText, type VariableValues } from '../../../graph/template.js';
import { isHeaderName, isHeaderValue } from '../../../outgoing/header-text.js';
import { NodeFailure } from '../../node/failures.js';

/** Returns a node's headers with their variables filled in. Throws NodeFailure `invalid_header`. */
export function renderHeaders(
  headers: Record<string, string | number | boolean>,
  values: VariableValues,
): Record<string, string> {
  const rendered: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    rendered[name] = toHeader(name, renderText(String(value), values));
  }
  return rendered;
}

function toHeader(name: string, value: string): string {
  if (!isHeaderName(name)) throw new NodeFailure('invalid_header', `"${name}" is not a valid header name.`);
  if (isHeaderValue(value)) return value;
  const message = `The value of header "${name}" holds a character that headers cannot carry.`;
  throw new NodeFailure('invalid_header', message);
}
