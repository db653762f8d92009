// Adds to a request, before its body is read, its validated parameters, query and headers, the address of its peer, and
// what `admit` of its route finds.
import type { z } from 'zod';
import { invalidFields, notFound } from '../http/errors.js';
import { parseFields } from '../http/field-errors.js';
import type { Route } from '../http/route.js';
import type { Step } from './step.js';

/** Throws 404 for malformed parameters: they cannot name an existing object. */
export function addParams(schema: z.ZodType): Step {
  return async ({ params, state }, next) => {
    const parsed = schema.safeParse(params);
    if (!parsed.success) throw notFound();
    state.handlerInput.params = parsed.data;
    await next();
  };
}

export function addQuery(schema: z.ZodType, repeatable?: readonly string[]): Step {
  return async ({ query, state }, next) => {
    state.handlerInput.query = parseFields(schema, readQuery(query, repeatable));
    await next();
  };
}

/**
 * The last value of a repeated parameter counts, as in Django, unless the route declares it `repeatable`. An empty
 * value counts as absent, because forms and clients send it for fields that nobody filled in.
 */
function readQuery(
  query: NodeJS.Dict<string | string[]>,
  repeatable: readonly string[] = [],
): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = {};
  for (const [key, raw] of Object.entries(query)) {
    const all = Array.isArray(raw) ? raw : [raw ?? ''];
    if (all.some((value) => value.includes('\0'))) throw invalidFields({ [key]: ['Null characters are not allowed.'] });
    const filled = repeatable.includes(key) ? all.filter((value) => value !== '') : (all.at(-1) ?? '');
    if (filled.length > 0) values[key] = filled;
  }
  return values;
}

export function addHeaders(schema: z.ZodType): Step {
  return async ({ headers, state }, next) => {
    state.handlerInput.headers = parseFields(schema, headers);
    await next();
  };
}

export function addPeerAddress(): Step {
  return async ({ req, state }, next) => {
    state.peerAddress = req.socket.remoteAddress ?? '';
    await next();
  };
}

/** Adds the result of `admit`, and for the handler its `found`. Throws the error of `admit`. */
export function addAdmitted<D>(admit: NonNullable<Route<D>['admit']>, deps: D): Step {
  return async ({ state }, next) => {
    state.admitted = await admit({ deps, params: state.handlerInput.params });
    state.handlerInput.admitted = state.admitted.found;
    await next();
  };
}
