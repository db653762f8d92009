// Builds the middleware of a route from its declaration.
import { Readable } from 'node:stream';
import { createTrail, runRecorded } from '../audit/audit-trail.js';
import { recordRefusal, recordRefusals } from '../audit/record-refusals.js';
import type { AppContext, AppMiddleware } from '../http/app-state.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { isEventStream } from '../../outgoing/event-stream-type.js';
import type { DispatchDeps } from './deps.js';
import type { Database } from '../../db/core/client.js';
import { onBehalfOf } from '../../db/core/tenants.js';
import { measureVersion } from '../../db/workflows/versions-repository.js';
import { pathId } from '../http/path-ids.js';
import { ApiError, invalidFields, notFound } from '../http/errors.js';
import { parseFields } from '../http/field-errors.js';
import { parseExactJsonBody } from '../http/json-body.js';
import { holdsLazyJson, toJsonText } from '../http/json-text.js';
import { sendBytes, sendJson, sendStream, SMALL_ANSWER_BYTES } from '../http/send-answer.js';
import { tenantOf } from '../access/visitor.js';
import { authenticate } from '../access/authenticate.js';
import { authorize, authorizeAdministrators } from '../access/authorize.js';
import { refuseOtherOrigins } from '../http/middleware/origins.js';
import {
  MAX_BODY_BYTES,
  readBytes,
  readJsonBody,
  readTextBody,
  readVerbatimBody,
  type BodyBounds,
} from '../http/middleware/read-body.js';
import { readRunInput } from '../http/read-run-input.js';
import type { Admitted, Route, RouteDeclaration, RouteResult } from '../http/route.js';
import { openBody } from '../http/stream-body.js';

/** Authentication and authorization precede validation, so that a stranger learns nothing from a 400. */
export function dispatch<D extends DispatchDeps>(route: Route<D>, deps: D): AppMiddleware[] {
  const steps: AppMiddleware[] = [
    async (ctx, next) => {
      ctx.state.route = route;
      // The signal exists from the start, because a caller may hang up while the credentials are checked.
      ctx.state.hangUp = hangUpOf(ctx as AppContext);
      ctx.state.signal = ctx.state.hangUp.signal;
      await next();
    },
  ];
  if (route.audit !== undefined) steps.push(recordRefusals(route, deps));
  if (route.ownOriginOnly === true) steps.push(refuseOtherOrigins(deps.config));
  steps.push(authenticate(route, deps));
  if (route.isForAdministrators === true) steps.push(authorizeAdministrators(deps));
  if (route.access !== undefined) steps.push(authorize(route.access, deps));
  steps.push(async (ctx) => {
    const routerContext = ctx as AppContext;
    try {
      const result = await settle(routerContext, handle(route, routerContext, deps));
      // Statements that run while the answer is sent count for the caller, too.
      const { tenant } = routerContext.state;
      const send = () => write(routerContext, result, deps);
      await (tenant === undefined ? send() : onBehalfOf(tenant, send));
    } finally {
      ctx.state.memory?.end();
    }
  });
  return steps;
}

/** Counts the request, or not, where that depends on the answer. */
async function settle({ state }: AppContext, answer: Promise<RouteResult>): Promise<RouteResult> {
  const result = await answer.catch(async (error: unknown) => {
    await state.settle?.(true);
    throw error;
  });
  if (state.settle === undefined) return result;
  return { ...result, headers: { ...result.headers, ...(await state.settle(result.status !== 304)) } };
}

/** The facts of a request that are known before its body is read. */
interface Opened {
  tenant: string;
  admitted: Admitted<unknown> | undefined;
  peerAddress: string;
  params: unknown;
  query: unknown;
  headers: unknown;
}

/** The memory that the body has taken is held until the answer was sent, unless that is a stream or comes later. */
async function handle<D extends DispatchDeps>(route: Route<D>, ctx: AppContext, deps: D): Promise<RouteResult> {
  const params = parseParams(route, ctx.params);
  const query = route.query && parseFields(route.query, readQuery(ctx.query, route.repeatable));
  const headers = route.headers && parseFields(route.headers, ctx.headers);
  const peerAddress = ctx.req.socket.remoteAddress ?? '';
  const admitted = await route.admit?.({ deps, params });
  const tenant = admitted?.tenant ?? tenantOf(deps, { caller: ctx.state.caller, peerAddress, headers: ctx.headers });
  ctx.state.tenant = tenant;
  return onBehalfOf(tenant, () =>
    handleFor({ route, ctx, deps }, { tenant, admitted, peerAddress, params, query, headers }),
  );
}

async function handleFor<D extends DispatchDeps>(
  { route, ctx, deps }: { route: Route<D>; ctx: AppContext; deps: D },
  { tenant, admitted, peerAddress, params, query, headers }: Opened,
): Promise<RouteResult> {
  const { signal } = ctx.state;
  const memory = deps.memory.lease(tenant, signal);
  ctx.state.memory = memory;
  try {
    const { body, bodyBytes } = await readBody(route, ctx, { memory, deps }, admitted?.maxBodyBytes);
    const { caller, access, log } = ctx.state;
    const given = { params, query, headers, body, bodyBytes, requestHeaders: ctx.headers, peerAddress };
    const bodyStream = (limitBytes: number) => openBody(ctx, limitBytes);
    const held = { admitted: admitted?.found, tenant, memory, signal };
    const refuse = (error: unknown) => recordRefusal(route, ctx, deps, error);
    const audit = Object.assign(createTrail(route, ctx, deps, given), { refuse });
    const seen = { log, caller, access, audit, bodyStream, ...held, ...given };
    const { audit: rule } = route;
    // The types of the declaration state whether there is a caller and an access; this code passes both on.
    const run = (db: Database): Promise<RouteResult> =>
      route.handler({ ...seen, deps: { ...deps, db, answerDb: deps.db } });
    const commitsItself = rule === undefined || rule.commits === 'handler' || rule.records === 'refusals';
    const handler = (): Promise<RouteResult> =>
      commitsItself ? run(deps.db) : runRecorded(rule, audit, access?.projectId, run);
    const drawingBytes = await takeDrawing(route, ctx, deps, admitted?.workflowId);
    let result = await deps.turns.take({ tenant, projectId: access?.projectId, signal }, drawingBytes, handler);
    const isLong = result.later !== undefined || result.body instanceof Readable;
    if (isLong) memory.end();
    if (isLong || result.stalledMs !== undefined) ctx.state.heldSinceMs ??= performance.now();
    while (result.later !== undefined) result = await result.later();
    return result;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'parse_error' && route.answerUnparsed)
      return route.answerUnparsed(error);
    throw error;
  }
}

/** Bytes of memory per byte of a drawing: as the driver holds it, as text and as bytes; or as small objects, too. */
const DRAWING_COPIES = { text: 4, parsed: 8 };

/** Takes the memory of the drawing that the route reads. Returns its size, 0 where it reads none. */
async function takeDrawing(
  { readsDrawing }: RouteDeclaration,
  { params, state }: AppContext,
  { db }: DispatchDeps,
  admittedId: number | undefined,
): Promise<number> {
  if (readsDrawing === undefined) return 0;
  const workflowId = admittedId ?? state.access?.workflowId ?? pathId.safeParse(params['id']).data;
  if (workflowId === undefined) return 0;
  const sizeBytes = await measureVersion(db, workflowId, pathId.safeParse(params['version']).data);
  const memory = state.memory!;
  await memory.resize(memory.bytes + DRAWING_COPIES[readsDrawing] * sizeBytes);
  return sizeBytes;
}

function parseParams(route: RouteDeclaration, params: unknown): unknown {
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

/** The limit on the body of an open route that has accepted nobody yet. Extensions, section 9. */
const MAX_OPEN_BODY_BYTES = 64 * 1024;

function bodyLimitOf(route: Route<never>, admittedBytes: number | undefined): number {
  const { auth, admit, maxBodyBytes: limitBytes = MAX_BODY_BYTES } = route;
  const isUnknown = auth === 'open' && admit === undefined;
  return Math.min(limitBytes, admittedBytes ?? (isUnknown ? MAX_OPEN_BODY_BYTES : limitBytes));
}

const NO_BYTES = Buffer.alloc(0);

async function readBody(
  route: Route<never>,
  ctx: AppContext,
  { memory: lease, deps }: { memory: ByteLease; deps: DispatchDeps },
  admittedBytes: number | undefined,
): Promise<{ body: unknown; bodyBytes: Buffer }> {
  if (route.body === undefined || route.bodyFormat === 'stream') return { body: undefined, bodyBytes: NO_BYTES };
  const bounds = { limitBytes: bodyLimitOf(route, admittedBytes), lease };
  if (route.bodyFormat === 'verbatim') {
    const { value, bytes } = await readVerbatimBody(ctx, bounds);
    return { body: parseFields(route.body, value), bodyBytes: bytes };
  }
  if (route.bodyFormat === 'bytes') return { body: undefined, bodyBytes: await readBytes(ctx, bounds) };
  return {
    body: parseFields(route.body, await readGivenBody(route.bodyFormat, ctx, bounds, deps)),
    bodyBytes: NO_BYTES,
  };
}

function readGivenBody(
  format: RouteDeclaration['bodyFormat'],
  ctx: AppContext,
  bounds: BodyBounds,
  { files }: DispatchDeps,
): Promise<unknown> {
  if (format === 'run-input') return readRunInput(ctx, bounds, files);
  if (format === 'exact') return readJsonBody(ctx, bounds, parseExactJsonBody);
  return format === 'text' ? readTextBody(ctx, bounds) : readJsonBody(ctx, bounds);
}

function hangUpOf({ res }: AppContext): AbortController {
  const controller = new AbortController();
  if (res.destroyed) controller.abort();
  res.once('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  return controller;
}

async function write(
  ctx: AppContext,
  { status, body, headers, stalledMs }: RouteResult,
  deps: DispatchDeps,
): Promise<void> {
  ctx.status = status;
  if (headers !== undefined) ctx.set(headers);
  if (body === undefined) {
    ctx.body = null;
    ctx.status = status;
    return;
  }
  if (body instanceof Readable) {
    const { caller, hangUp } = ctx.state;
    const isOfUser = caller !== undefined && isEventStream(headers?.['Content-Type']);
    const leave = isOfUser && deps.openStreams.enter({ userId: caller.userId, body, hangUp: () => hangUp.abort() });
    try {
      return await sendStream(ctx, body, stalledMs);
    } finally {
      if (leave !== false) leave();
    }
  }
  const isReady = Buffer.isBuffer(body) || (typeof body === 'string' && headers?.['Content-Type'] !== undefined);
  if (!isReady) ctx.type = 'application/json';
  if (!isReady && holdsLazyJson(body)) return sendJson(ctx, body, ctx.state.memory!);
  const whole = isReady ? body : toJsonText(body);
  if (whole.length <= SMALL_ANSWER_BYTES || ctx.method === 'HEAD') ctx.body = whole;
  else await sendBytes(ctx, whole, ctx.state.memory!);
}
