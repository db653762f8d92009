// Derives the answers that a route has in addition to its declared ones from what the route requires.
import type { z } from 'zod';
import { badRequestSchema, detailSchema } from '../answer-schemas.js';
import { chatErrorSchema, isChatPath } from '../chat-errors.js';
import type { RouteDeclaration } from '../route.js';

export const STATUS_TEXTS: Partial<Record<number, string>> = {
  200: 'Done.',
  201: 'Made.',
  202: 'Taken; it is done soon.',
  204: 'Done; no body.',
  302: 'Go to the address in `Location`.',
  303: 'Done; go to the address in `Location`.',
  304: 'Nothing has changed; no body.',
  400: 'Something in the request is missing or wrong.',
  401: 'Credentials are missing or wrong.',
  403: 'The caller may not do this.',
  404: "Not found, or not the caller's: existence never leaks.",
  405: 'The method is not taken here.',
  406: 'The caller does not take the form of the answer.',
  409: 'The request conflicts with the present state of what it concerns, which may have ended, have changed or be in use.',
  412: 'It has been changed since the caller read it; nothing is done.',
  413: 'The body is too large, or its project would store more than it may.',
  415: 'The media type, charset or encoding of the body is not taken.',
  431: 'The address and headers are longer than 16 KiB.',
  422: 'The workflow does not take this input; nothing was kept.',
  429: 'The requests of this minute are used up, or too many logins have failed.',
  500: 'A fault of ours, or of what stands behind us; nothing of the cause.',
  503: 'Too busy, or not ready: try again.',
};

/** Declared answers take precedence over derived ones. */
export function allAnswers(route: RouteDeclaration): Map<number, z.ZodType> {
  const isChat = isChatPath(route.path);
  const answers = new Map<number, z.ZodType>();
  for (const status of impliedStatuses(route)) {
    answers.set(status, schemaOf(status, isChat));
  }
  for (const [status, schema] of Object.entries(route.responses)) answers.set(Number(status), schema);
  return new Map([...answers].toSorted(([a], [b]) => a - b));
}

function schemaOf(status: number, isChat: boolean): z.ZodType {
  // 431 is answered before the path is known.
  if (status === 431) return detailSchema;
  if (isChat) return chatErrorSchema;
  return status === 400 ? badRequestSchema : detailSchema;
}

function impliedStatuses(route: RouteDeclaration): number[] {
  const isCounted = ['key', 'session', 'bearer-key'].includes(route.auth);
  return [
    ...(route.query || route.body || route.headers || route.access?.refusal === 400 ? [400] : []),
    ...(route.auth === 'open' || route.auth === 'optional' ? [] : [401]),
    ...(isCounted ? [403, 429] : []),
    ...(route.auth === 'optional' ? [429] : []),
    ...(route.params || route.access ? [404] : []),
    ...(route.body ? [413, 415] : []),
    431,
    500,
    ...(route.auth === 'open' ? [] : [503]),
  ];
}
