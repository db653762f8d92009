// From a route's declaration to the middleware that serve it.
import type { AppContext, AppMiddleware } from './app-state.js';
import type { AppDeps } from './deps.js';
import { invalidFields, notFound } from './errors.js';
import { parseFields } from './field-errors.js';
import { toJsonText } from './json-text.js';
import { authenticate } from './middleware/authenticate.js';
import { authorize } from './middleware/authorize.js';
import { readJsonBody, readTextBody } from './middleware/read-body.js';
import { readRunInput } from './read-run-input.js';
import type { Route, RouteResult } from './route.js';

/** In this order: who speaks, may they, is what they say well-formed. A stranger learns nothing from a 400. */
export function dispatch(route: Route, deps: AppDeps): AppMiddleware[] {
  const steps: AppMiddleware[] = [
    async (ctx, next) => {
      ctx.state.route = route;
      await next();
    },
    authenticate(route.auth, deps),
  ];
  if (route.access !== undefined) steps.push(authorize(route.access, deps));
  steps.push(async (ctx) => {
    const routerContext = ctx as AppContext;
    const params = parseParams(route, routerContext.params);
    const query = route.query && parseFields(route.query, readQuery(ctx.query, route.repeatable));
    const headers = route.headers && parseFields(route.headers, ctx.headers);
    const body = await readBody(route, routerContext);
    const { caller, access, log } = ctx.state;
    // The declaration's types say when there is a caller and an access; here both are just passed on.
    const context = { deps, log, caller, access, params, query, body, headers } as Parameters<Route['handler']>[0];
    write(routerContext, await route.handler(context));
  });
  return steps;
}

function parseParams(route: Route, params: unknown): unknown {
  if (route.params === undefined) return undefined;
  const parsed = route.params.safeParse(params);
  if (!parsed.success) throw notFound();
  return parsed.data;
}

/** Of a repeated parameter the last one counts, as in Django, unless the route wants them all. */
function readQuery(
  query: NodeJS.Dict<string | string[]>,
  repeatable: readonly string[] = [],
): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = {};
  for (const [key, given] of Object.entries(query)) {
    const all = Array.isArray(given) ? given : [given ?? ''];
    if (all.some((value) => value.includes('\0'))) throw invalidFields({ [key]: ['Null characters are not allowed.'] });
    values[key] = repeatable.includes(key) ? all : (all.at(-1) ?? '');
  }
  return values;
}

async function readBody(route: Route, ctx: AppContext): Promise<unknown> {
  if (route.body === undefined) return undefined;
  return parseFields(route.body, await readGivenBody(route.bodyFormat, ctx));
}

function readGivenBody(format: Route['bodyFormat'], ctx: AppContext): Promise<unknown> {
  if (format === 'run-input') return readRunInput(ctx);
  return format === 'text' ? readTextBody(ctx) : readJsonBody(ctx);
}

function write(ctx: AppContext, { status, body, headers }: RouteResult): void {
  ctx.status = status;
  if (headers !== undefined) ctx.set(headers);
  if (body === undefined) {
    ctx.body = null;
    ctx.status = status;
    return;
  }
  if (typeof body === 'string' && headers?.['Content-Type'] !== undefined) {
    ctx.body = body;
    return;
  }
  ctx.type = 'application/json';
  ctx.body = toJsonText(body);
}
