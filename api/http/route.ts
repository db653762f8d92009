// A route is declared once; from the declaration come the validation, the access check and the documentation.
import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { Logger } from '../../config/logger.js';
import type { PolledText } from '../../db/runs/poll-repository.js';
import type { Role } from '../../db/core/tables.js';
import type { AppDeps } from '../deps.js';

/**
 * `key`: a user's API key or session token. `bearer-key`: the key as a bearer token, as the chat proxy's clients send it.
 * `optional`: open to all, and whoever shows a good key or token is known. `internal`: the workers' service token.
 * `open`: nobody asks.
 */
export type Auth = 'key' | 'bearer-key' | 'optional' | 'internal' | 'open';

/** Who speaks, and by which credential: the form of the body of run and re-run depends on it. */
export interface Caller {
  userId: number;
  credential: 'key' | 'session';
}

/** The path's `id` names a project or a workflow, its `workflow_run_id` a run; a stranger gets 404, a lesser role `refusal` (403 unless stated). */
export interface AccessRule {
  to: 'project' | 'workflow' | 'run';
  role: Role;
  refusal?: 400 | 403;
}

/** What was read together with the admission of a key (`pollsRun`). */
export interface Polled {
  runId: string;
  /** Undefined when no run has the id. */
  run: PolledText | undefined;
}

/** What the access check found. */
export interface Access {
  projectId: number;
  role: Role;
}

export interface RouteContext<A, P, Q, B, R, H = undefined> {
  deps: AppDeps;
  log: Logger;
  caller: A extends 'key' | 'bearer-key' ? Caller : A extends 'optional' ? Caller | undefined : undefined;
  access: R extends AccessRule ? Access : undefined;
  polled: Polled | undefined;
  params: P;
  query: Q;
  headers: H;
  body: B;
  /** What the caller sent, byte by byte; empty unless `bodyFormat` is `verbatim`. */
  bodyBytes: Buffer;
  /** The request's own headers, for the one route that passes some of them on. Names in lower case. */
  requestHeaders: IncomingHttpHeaders;
  /** Aborted when the caller hangs up before it has the whole answer. */
  signal: AbortSignal;
}

export interface RouteResult {
  status: number;
  /**
   * Anything JSON, with `RawJson` pieces; absent for 204. Bytes, and text of a stated Content-Type, go out as they are, a
   * stream as it comes: should it break, the connection breaks too.
   */
  body?: unknown;
  headers?: Record<string, string>;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

interface RouteShape {
  method: Method;
  /** With its trailing slash; requests may leave it out. */
  path: string;
  summary: string;
  /** Markdown, for what the summary has no room for. */
  description?: string;
  auth: Auth;
  /**
   * `json`: an object of the media type application/json. `verbatim`: the same, its bytes kept too, and no text in it
   * refused. `text`: any text of any media type, handed to `body` as a string. `run-input`: what `readRunInput` makes of it.
   * Nothing is read without a `body` schema.
   */
  bodyFormat?: 'json' | 'verbatim' | 'text' | 'run-input';
  /** Parameters of the query of which every value counts: `query` gets an array. Of the others the last one counts. */
  repeatable?: readonly string[];
  /** The parameter of the query that names a run which is read together with the admission of the caller's key. */
  pollsRun?: string;
  /** Default 10 MiB. */
  maxBodyBytes?: number;
  /**
   * Answers by status; `z.null()` for an empty one. For the documentation, which adds what every route may answer
   * (openapi/common-answers.ts).
   */
  responses: Record<number, z.ZodType>;
  /** Media types of answers that are not just application/json. */
  mediaTypes?: Partial<Record<number, string[]>>;
  /** Says of any other status what it is, where not only we decide it. */
  otherAnswers?: string;
  /** Noise such as health checks is logged at debug level. */
  quiet?: boolean;
}

export interface RouteSpec<A extends Auth, P, Q, B, R extends AccessRule | undefined, H> extends RouteShape {
  auth: A;
  access?: R;
  params?: z.ZodType<P>;
  query?: z.ZodType<Q>;
  /** Names in lower case; what is not listed is not looked at. */
  headers?: z.ZodType<H>;
  body?: z.ZodType<B>;
  handler(context: RouteContext<A, P, Q, B, R, H>): Promise<RouteResult> | RouteResult;
}

/** A route whose types have served their purpose. */
export interface Route extends RouteShape {
  access?: AccessRule;
  params?: z.ZodType;
  query?: z.ZodType;
  headers?: z.ZodType;
  body?: z.ZodType;
  handler(
    context: RouteContext<Auth, unknown, unknown, unknown, AccessRule | undefined, unknown>,
  ): Promise<RouteResult>;
}

/** Checks a declaration against its own schemas; the handler sees what they produce. */
export function defineRoute<
  A extends Auth,
  P = undefined,
  Q = undefined,
  B = undefined,
  R extends AccessRule | undefined = undefined,
  H = undefined,
>(spec: RouteSpec<A, P, Q, B, R, H>): Route {
  return spec as unknown as Route;
}
