import { isContainer } from '../../../graph/json.js';
import { writeJson } from '../../../graph/json-text.js';

/**
 * Converts a node's rendered `body` (any JSON) to the request body. Text is sent unchanged; everything else is sent as
 * JSON, or as a form if the node's content type requires it. Adds a missing content type to `headers`. An empty list or
 * object on GET or HEAD means no body, because editors save one.
 */
export function toHttpBody(method: string, body: unknown, headers: Record<string, string>): string | undefined {
  if (body === undefined || body === null || body === '') return undefined;
  const isBodiless = method === 'GET' || method === 'HEAD';
  if (isBodiless && isContainer(body) && Object.keys(body).length === 0) return undefined;
  const named = Object.keys(headers).find((name) => name.toLowerCase() === 'content-type');
  if (named === undefined) {
    headers['content-type'] = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  } else if (/^application\/x-www-form-urlencoded/i.test(headers[named]!) && isContainer(body)) {
    return new URLSearchParams(
      Object.entries(body).map(([name, value]): [string, string] => [name, toFormValue(value)]),
    ).toString();
  }
  return typeof body === 'string' ? body : writeJson(body);
}

function toFormValue(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : writeJson(value);
}
