import { renderText, type VariableValues } from '../../../graph/template.js';
import { isHeaderName, isHeaderValue, trimHeaderValue } from '../../../outgoing/header-text.js';
import { NodeFailure } from '../../node/failures.js';

/**
 * Returns a node's headers with their variables filled in. Throws a `NodeFailure`: `invalid_header`, or `invalid_value`
 * for a line break within a value.
 */
export function renderHeaders(
  headers: Record<string, string | number | boolean>,
  values: VariableValues,
): Record<string, string> {
  const rendered: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    // A token from a file or a form often ends in a line break.
    rendered[name] = toHeader(name, trimHeaderValue(renderText(String(value), values)));
  }
  return rendered;
}

function toHeader(name: string, value: string): string {
  if (!isHeaderName(name)) throw new NodeFailure('invalid_header', `"${name}" is not a valid header name.`);
  if (isHeaderValue(value)) return value;
  if (/[\r\n]/.test(value)) {
    throw new NodeFailure('invalid_value', `The value of header "${name}" has more than one line.`);
  }
  const message = `The value of header "${name}" holds a character that headers cannot carry.`;
  throw new NodeFailure('invalid_header', message);
}
