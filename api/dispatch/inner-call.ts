// Calls routes of the service inside a request that has been admitted already, for the tools of assistants. The access
// check, the validation, the memory, the audit and the handler are those of the route itself. The credentials are not
// checked again, nor is the scope of a key checked against the route.
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { authorize, authorizeAdministrators } from '../access/authorize.js';
import { recordRefusals } from '../audit/record-refusals.js';
import { parseFields } from '../http/field-errors.js';
import { toJsonPieces, type AnswerMemory } from '../http/json-text.js';
import type { Caller, Route } from '../http/route.js';
import { toAnswerMemory } from '../http/send-answer.js';
import type { Logger } from '../../telemetry/logger.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { PARSED_COPIES } from '../../memory/json-copies.js';
import { addAudit } from './add-audit.js';
import { addMemory } from './add-memory.js';
import { addHeaders, addParams, addQuery } from './add-request-facts.js';
import { addRoute } from './add-route.js';
import { awaitDrawing, awaitsDrawing } from './await-drawing.js';
import { callHandler, callHandlerInTransaction, runsInTransaction } from './call-handler.js';
import type { DispatchDeps } from './deps.js';
import { changesSomething, refuseWithoutRoom } from './refuse-without-room.js';
import type { RequestContext, RequestState, Step } from './step.js';

/** The request inside which routes are called. */
export interface OuterRequest {
  caller: Caller;
  log: Logger;
  tenant: string;
  signal: AbortSignal;
  peerAddress: string;
  requestHeaders: IncomingHttpHeaders;
}

export interface InnerRequest {
  params?: Record<string, string>;
  query?: Record<string, string | string[]>;
  headers?: Record<string, string>;
  /** The body as parsed JSON. */
  body?: unknown;
}

export interface InnerAnswer {
  status: number;
  headers: Record<string, string>;
  /** As the handler has returned it; it may hold `LazyJson`. */
  body: unknown;
  /** Accounts the memory of the parts of the body that are read. */
  memory: AnswerMemory;
}

export class InnerCalls<D extends DispatchDeps> {
  readonly #routes: ReadonlyMap<string, Route<D>>;
  readonly #deps: D;
  readonly #outer: OuterRequest;
  readonly #leases: ByteLease[] = [];

  constructor(routes: readonly Route<D>[], deps: D, outer: OuterRequest) {
    this.#routes = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
    this.#deps = deps;
    this.#outer = outer;
  }

  /**
   * Calls a route; `name` is its method and path. Throws the error that the route would answer. The answer's memory is
   * held until `end`.
   */
  async call(name: string, request: InnerRequest = {}): Promise<InnerAnswer> {
    const { route, ctx } = this.#begin(name, request);
    await runSteps([...admissionOf(route, this.#deps), ...workOf(route, this.#deps, request)], ctx, (lease) =>
      this.#leases.push(lease),
    );
    const { state } = ctx;
    let { result } = state;
    while (result.later !== undefined) result = await result.later();
    return { status: result.status, headers: result.headers ?? {}, body: result.body, memory: memoryOf(state) };
  }

  /** Throws the error of the route if the caller may not use it, and records the refusal. Does nothing else. */
  async admit(name: string, request: Pick<InnerRequest, 'params'>): Promise<void> {
    const { route, ctx } = this.#begin(name, request);
    await runSteps(admissionOf(route, this.#deps), ctx, () => undefined);
  }

  #begin(name: string, { params = {}, query = {}, headers = {} }: InnerRequest) {
    const route = this.#routes.get(name);
    if (route === undefined) throw new Error(`there is no route ${name}`);
    const { caller, log, tenant, signal, peerAddress, requestHeaders } = this.#outer;
    const state = { caller, log, tenant, signal, peerAddress } as RequestState;
    const req = { socket: { remoteAddress: peerAddress } };
    // The steps of an inner call use only these parts of a context.
    const ctx = { state, params, query, headers: { ...addressHeaders(requestHeaders), ...headers }, req };
    return { route, ctx: ctx as unknown as RequestContext };
  }

  /** Like `call`; returns the whole body as parsed JSON. */
  async json<Body>(name: string, request: InnerRequest = {}): Promise<Body> {
    return this.read<Body>(await this.call(name, request));
  }

  async read<Body>({ body, memory }: InnerAnswer): Promise<Body> {
    if (body instanceof Readable) throw new Error('a stream is no JSON');
    if (Buffer.isBuffer(body)) return JSON.parse(body.toString()) as Body;
    const pieces: string[] = [];
    for await (const piece of toJsonPieces(body, memory)) pieces.push(piece);
    const text = pieces.join('');
    await memory.take(PARSED_COPIES * text.length);
    return JSON.parse(text) as Body;
  }

  /** Gives back the memory of all answers so far. */
  end(): void {
    for (const lease of this.#leases.splice(0)) lease.end();
  }
}

function admissionOf<D extends DispatchDeps>(route: Route<D>, deps: D): Step[] {
  const { access, audit } = route;
  return toSteps([
    addRoute(route),
    audit && recordRefusals(route, deps),
    route.isForAdministrators && authorizeAdministrators(deps),
    access && authorize(access, deps),
  ]);
}

function workOf<D extends DispatchDeps>(route: Route<D>, deps: D, { body }: InnerRequest): Step[] {
  const { audit, headers, params, query } = route;
  return toSteps([
    changesSomething(route) && refuseWithoutRoom(deps),
    params && addParams(params),
    query && addQuery(query, route.repeatable),
    headers && addHeaders(headers),
    addMemory(deps),
    route.body && addGivenBody(route, body),
    audit && addAudit(route, deps),
    awaitsDrawing(route) && awaitDrawing(route, deps),
    runsInTransaction(audit) ? callHandlerInTransaction(route, audit, deps) : callHandler(route, deps),
  ]);
}

/** The cast is safe because the order above adds each field of the state before a step reads it. */
function toSteps(steps: unknown[]): Step[] {
  return steps.filter((step) => typeof step === 'function') as Step[];
}

function addGivenBody<D>({ body: schema }: Route<D>, body: unknown): Step {
  return async ({ state }, next) => {
    state.handlerInput.body = parseFields(schema!, body);
    await next();
  };
}

async function runSteps(steps: readonly Step[], ctx: RequestContext, keep: (lease: ByteLease) => void): Promise<void> {
  const run = async (at: number): Promise<void> => {
    await steps[at]?.(ctx, () => run(at + 1));
  };
  try {
    await run(0);
  } finally {
    // A request that is refused before `addMemory` has no lease.
    const { memory } = ctx.state as Partial<RequestState>;
    if (memory !== undefined) keep(memory);
  }
}

function memoryOf({ memory }: RequestState): AnswerMemory {
  return toAnswerMemory(memory);
}

/**
 * The header by which the address of the client is found (api/access/visitor.ts). No other header of the outer request
 * reaches the routes.
 */
function addressHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { 'x-forwarded-for': hops } = headers;
  return hops === undefined ? {} : { 'x-forwarded-for': hops };
}
