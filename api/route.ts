// A route is declared once; from the declaration come the validation, the access check and the documentation.
import type { z } from 'zod';
import type { Logger } from '../config/logger.js';
import type { Role } from '../db/tables.js';
import type { AppDeps } from './deps.js';

/**
 * `key`: a user's API key or session token. `optional`: open to all, and whoever shows a good one is known. `internal`: the workers'
 * service token. `open`: nobody asks.
 */
export type Auth = 'key' | 'optional' | 'internal' | 'open';

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

/** What the access check found. */
export interface Access {
  projectId: number;
  role: Role;
}

export interface RouteContext<A, P, Q, B, R, H = undefined> {
  deps: AppDeps;
  log: Logger;
  caller: A extends 'key' ? Caller : A extends 'optional' ? Caller | undefined : undefined;
  access: R extends AccessRule ? Access : undefined;
  params: P;
  query: Q;
  body: B;
  headers: H;
}

export interface RouteResult {
  status: number;
  /** Anything JSON, with `RawJson` pieces; absent for 204. */
  body?: unknown;
  headers?: Record<string, string>;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

interface RouteShape {
  method: Method;
  /** With its trailing slash; requests may leave it out. */
  path: string;
  summary: string;
  auth: Auth;
  /**
   * `json`: an object of the media type application/json. `text`: any text of any media type, handed to `body` as a
   * string. `run-input`: what `readRunInput` makes of it. Nothing is read when there is no `body` schema.
   */
  bodyFormat?: 'json' | 'text' | 'run-input';
  /** Parameters of the query of which every value counts: `query` gets an array. Of the others the last one counts. */
  repeatable?: readonly string[];
  /** Answers by status; `z.null()` for an empty one. For the documentation. */
  responses: Record<number, z.ZodType>;
  /** Noise such as health checks is logged at debug level. */
  quiet?: boolean;
}

export interface RouteSpec<A extends Auth, P, Q, B, R extends AccessRule | undefined, H> extends RouteShape {
  auth: A;
  access?: R;
  params?: z.ZodType<P>;
  query?: z.ZodType<Q>;
  body?: z.ZodType<B>;
  /** Request headers that the handler reads, by their names in lower case. */
  headers?: z.ZodType<H>;
  handler(context: RouteContext<A, P, Q, B, R, H>): Promise<RouteResult> | RouteResult;
}

/** A route whose types have served their purpose. */
export interface Route extends RouteShape {
  access?: AccessRule;
  params?: z.ZodType;
  query?: z.ZodType;
  body?: z.ZodType;
  headers?: z.ZodType;
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
