// Builds the middleware of a route from its declaration.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { recordedBy } from '../audit/audit-rule.js';
import { createTrail, runRecorded } from '../audit/audit-trail.js';
import { recordRefusal, recordRefusals } from '../audit/record-refusals.js';
import type { AppContext, AppMiddleware } from './app-state.js';
import type { AppDeps } from '../deps.js';
import { ApiError, invalidFields, notFound } from './errors.js';
import { parseFields } from './field-errors.js';
import { parseExactJsonBody } from './json-body.js';
import { holdsLazyJson, toJsonText } from './json-text.js';
import { streamJson } from './stream-json.js';
import { authenticate } from './middleware/authenticate.js';
import { authorize, authorizeAdministrators } from './middleware/authorize.js';
import { refuseOtherOrigins } from './middleware/own-origin.js';
import { MAX_BODY_BYTES, readBytes, readJsonBody, readTextBody, readVerbatimBody } from './middleware/read-body.js';
import { readRunInput } from '../runs/read-run-input.js';
import type { Route, RouteResult } from './route.js';

/** Authentication and authorization precede validation, so that a stranger learns nothing from a 400. */
export function dispatch(route: Route, deps: AppDeps): AppMiddleware[] {
  const steps: AppMiddleware[] = [
    async (ctx, next) => {
      ctx.state.route = route;
      await next();
    },
  ];
  if (recordedBy(route.audit) !== undefined) steps.push(recordRefusals(route, deps));
  if (route.ownOriginOnly === true) steps.push(refuseOtherOrigins(deps.config));
  steps.push(authenticate(route, deps));
  if (route.isForAdministrators === true) steps.push(authorizeAdministrators(deps));
  if (route.access !== undefined) steps.push(authorize(route.access, deps));
  steps.push(async (ctx) => {
    const routerContext = ctx as AppContext;
    let result = await handle(route, routerContext, deps);
    if (result.later !== undefined || result.stalledMs !== undefined) ctx.state.heldSinceMs = performance.now();
    while (result.later !== undefined) result = await result.later();
    await write(routerContext, result, deps);
  });
  return steps;
}

/** Everything that a body takes is released when this returns. */
async function handle(route: Route, ctx: AppContext, deps: AppDeps): Promise<RouteResult> {
  const params = parseParams(route, ctx.params);
  const query = route.query && parseFields(route.query, readQuery(ctx.query, route.repeatable));
  const headers = route.headers && parseFields(route.headers, ctx.headers);
  const signal = hangUpSignal(ctx);
  const lease = deps.memory.lease(signal);
  try {
    await lease.resize(bodyWeight(route, ctx));
    const { body, bodyBytes } = await readBody(route, ctx);
    const { caller, access, polled, log } = ctx.state;
    const peerAddress = ctx.req.socket.remoteAddress ?? '';
    const given = { params, query, headers, body, bodyBytes, requestHeaders: ctx.headers, peerAddress };
    // The types of the declaration state whether there is a caller and an access; this code passes both on.
    const refuse = (error: unknown) => recordRefusal(route, ctx, deps, error);
    const audit = Object.assign(createTrail(route, ctx, deps, given), { refuse });
    const context = { deps, log, caller, access, polled, signal, audit, ...given } as Parameters<Route['handler']>[0];
    const rule = recordedBy(route.audit);
    if (rule === undefined || rule.commits === 'handler') return await route.handler(context);
    return await runRecorded(rule, audit, access?.projectId, (db) =>
      route.handler({ ...context, deps: { ...deps, db } }),
    );
  } catch (error) {
    if (error instanceof ApiError && error.code === 'parse_error' && route.answerUnparsed)
      return route.answerUnparsed(error);
    throw error;
  } finally {
    lease.end();
  }
}

function parseParams(route: Route, params: unknown): unknown {
  if (route.params === undefined) return undefined;
  const parsed = route.params.safeParse(params);
  if (!parsed.success) throw notFound();
  return parsed.data;
}

/**
 * The last value of a repeated parameter counts, as in Django, unless the route asks for all. An empty value counts as
 * absent, because forms and clients send it for fields that nobody filled in.
 */
function readQuery(
  query: NodeJS.Dict<string | string[]>,
  repeatable: readonly string[] = [],
): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = {};
  for (const [key, given] of Object.entries(query)) {
    const all = Array.isArray(given) ? given : [given ?? ''];
    if (all.some((value) => value.includes('\0'))) throw invalidFields({ [key]: ['Null characters are not allowed.'] });
    const filled = repeatable.includes(key) ? all.filter((value) => value !== '') : (all.at(-1) ?? '');
    if (filled.length > 0) values[key] = filled;
  }
  return values;
}

/** A body costs its bytes, their text and the parsed value. */
const BODY_FACTOR = 3;

/** A large body is not read before its turn, so the sender's socket slows it down. */
function bodyWeight({ body, maxBodyBytes: limitBytes = MAX_BODY_BYTES }: Route, ctx: AppContext): number {
  const hasBody = ctx.get('content-length') !== '' || ctx.get('transfer-encoding') !== '';
  if (body === undefined || !hasBody) return 0;
  return BODY_FACTOR * Math.min(limitBytes, Number(ctx.get('content-length') || limitBytes));
}

const NO_BYTES = Buffer.alloc(0);

async function readBody(route: Route, ctx: AppContext): Promise<{ body: unknown; bodyBytes: Buffer }> {
  if (route.body === undefined) return { body: undefined, bodyBytes: NO_BYTES };
  const limitBytes = route.maxBodyBytes ?? MAX_BODY_BYTES;
  if (route.bodyFormat === 'verbatim') {
    const { value, bytes } = await readVerbatimBody(ctx, limitBytes);
    return { body: parseFields(route.body, value), bodyBytes: bytes };
  }
  if (route.bodyFormat === 'bytes') return { body: undefined, bodyBytes: await readBytes(ctx, limitBytes) };
  return { body: parseFields(route.body, await readGivenBody(route.bodyFormat, ctx, limitBytes)), bodyBytes: NO_BYTES };
}

function readGivenBody(format: Route['bodyFormat'], ctx: AppContext, limitBytes: number): Promise<unknown> {
  if (format === 'run-input') return readRunInput(ctx, limitBytes);
  if (format === 'exact') return readJsonBody(ctx, limitBytes, parseExactJsonBody);
  return format === 'text' ? readTextBody(ctx, limitBytes) : readJsonBody(ctx, limitBytes);
}

function hangUpSignal({ res }: AppContext): AbortSignal {
  const controller = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  return controller.signal;
}

async function write(ctx: AppContext, { status, body, headers, stalledMs }: RouteResult, deps: AppDeps): Promise<void> {
  ctx.status = status;
  if (headers !== undefined) ctx.set(headers);
  if (body === undefined) {
    ctx.body = null;
    ctx.status = status;
    return;
  }
  if (body instanceof Readable) {
    disconnectIfStalled(ctx, stalledMs);
    return sendStream(ctx, body);
  }
  if (Buffer.isBuffer(body) || (typeof body === 'string' && headers?.['Content-Type'] !== undefined)) {
    ctx.body = body;
    return;
  }
  ctx.type = 'application/json';
  if (holdsLazyJson(body)) {
    disconnectIfStalled(ctx, STALLED_MS);
    return sendStream(ctx, streamJson(body, deps.memory));
  }
  ctx.body = toJsonText(body);
}

const STALLED_MS = 60_000;

/** A caller that accepts no data for so long is disconnected, because it occupies resources that others wait for. */
function disconnectIfStalled(ctx: AppContext, stalledMs: number | undefined): void {
  if (stalledMs !== undefined) ctx.res.setTimeout(stalledMs, () => ctx.res.destroy());
}

/**
 * Sends the stream no faster than the caller reads. If one side breaks, the other is broken too: an answer that ends
 * well here ended well at its source.
 */
async function sendStream(ctx: AppContext, stream: Readable): Promise<void> {
  ctx.respond = false;
  ctx.flushHeaders();
  try {
    await pipeline(stream, ctx.res);
  } catch (error) {
    ctx.state.log.info({ err: error }, 'answer broke off');
  }
}
