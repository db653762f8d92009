// A route is declared once; validation, access check and documentation are derived from the declaration.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Transaction } from 'kysely';
import type { z } from 'zod';
import type { Logger } from '../../telemetry/logger.js';
import type { Database } from '../../db/core/client.js';
import type { Role, Tables } from '../../db/core/tables.js';
import type { Reach } from '../../db/access/reach.js';
import type { AuditRule, AuditTrail, RunsInTransaction } from './audit-rule.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { ApiError } from './errors.js';
import { idParams } from './path-ids.js';

/**
 * `key`: a user's API key or session token. `session`: a session token only, so that a stolen key cannot make others.
 * `bearer-key`: the API key as a bearer token, as clients of the chat proxy send it. `optional`: open to all; valid
 * credentials identify the caller. `internal`: the service token of the workers. `open`: no credentials.
 */
export type Auth = 'key' | 'session' | 'bearer-key' | 'optional' | 'internal' | 'open';

/**
 * The caller, the only project that their key reaches if it is restricted to one, and the kind of credential, which
 * determines the form of the body of run and re-run.
 */
export interface Caller extends Reach {
  credential: 'key' | 'session';
  /** The id of an API key; absent for sessions. */
  keyId?: number;
  /** The id of a session that was opened here (api/sessions/); absent for keys and for tokens of other services. */
  sessionId?: string;
}

/**
 * The path's `id` names a project or a workflow, its `workflow_run_id` a run. A stranger gets 404, a caller whose role
 * is too low gets `refusal` (403 unless stated).
 */
export interface AccessRule {
  to: 'project' | 'workflow' | 'run' | 'file' | 'conversation';
  role: Role;
  refusal?: 400 | 403;
}

/** The result of the access check. */
export interface Access {
  projectId: number;
  role: Role;
  /** The workflow of a conversation. */
  workflowId?: number;
}

/** The result of the lookup that an open route makes by the path, before anything of the body is read. */
export interface Admitted<T> {
  found: T;
  /** The owner whose memory the body takes, such as `project:7`. */
  tenant?: string;
  /** The workflow whose drawing is read (`readsDrawing`). */
  workflowId?: number;
  /** How large the body of whoever was accepted may be, below that of the route. */
  maxBodyBytes?: number;
}

/** What every handler gets. */
interface CommonContext<D> {
  /** What the subject of the route uses. */
  deps: D;
  log: Logger;
  /** The tenant whose memory is taken. */
  tenant: string;
  /** The memory of the request. It is held until the answer was sent; a handler may take more of it. */
  memory: ByteLease;
  /** The request's own headers, with names in lower case, for routes that pass some on or do not know their names. */
  requestHeaders: IncomingHttpHeaders;
  /** The other end of the connection, which may be a proxy (api/access/visitor.ts); empty when it has hung up. */
  peerAddress: string;
  /** Aborted when the caller hangs up before it has the whole answer. */
  signal: AbortSignal;
}

/** What a handler gets if its route declares it. */
export interface DeclaredContext {
  /** Not for `open` and `internal`. Undefined for `optional` where nobody has sent valid credentials. */
  caller?: Caller | undefined;
  access?: Access | undefined;
  params?: unknown;
  query?: unknown;
  headers?: unknown;
  body?: unknown;
  /** The unmodified bytes of the body, where `bodyFormat` is `verbatim` or `bytes`. */
  bodyBytes?: Buffer;
  /** Begins to receive the body, where `bodyFormat` is `stream`. It may be called once. api/http/stream-body.ts. */
  bodyStream?: (limitBytes: number) => Readable;
  /** The object that `admit` has found. */
  admitted?: unknown;
  /** The handler uses it to record changes in a transaction of its own. */
  audit?: AuditTrail;
}

/**
 * The dependencies of a handler that runs in the transaction of its audit record: `db` is that transaction, and commits with
 * the record.
 */
export type InTransaction<D> = Omit<D, 'db'> & {
  db: Transaction<Tables>;
  /** The database outside the transaction. It is read while the answer is sent. */
  answerDb: Database;
};

/** The types of a declaration; undefined for what the route does not declare. */
interface Declared {
  auth: Auth;
  access: AccessRule | undefined;
  params: unknown;
  query: unknown;
  headers: unknown;
  body: unknown;
  bodyFormat: BodyFormat;
  /** The type of the object that `admit` finds. */
  admitted: unknown;
  audit: Pick<AuditRule, 'action' | 'target' | 'records' | 'commits'> | undefined;
}

type If<Type, Fields> = [Type] extends [undefined] ? unknown : Fields;

type BodyFields<F, B> = F extends 'stream'
  ? Required<Pick<DeclaredContext, 'bodyStream'>>
  : F extends 'bytes'
    ? Required<Pick<DeclaredContext, 'bodyBytes'>>
    : { body: B } & (F extends 'verbatim' ? Required<Pick<DeclaredContext, 'bodyBytes'>> : unknown);

/** What the handler of a route gets: nothing that the route does not declare. */
type RouteContext<D, S extends Declared> = CommonContext<
  RunsInTransaction<S['audit']> extends true ? InTransaction<D> : D
> &
  (S['auth'] extends 'open' | 'internal'
    ? unknown
    : { caller: S['auth'] extends 'optional' ? Caller | undefined : Caller }) &
  If<S['access'], { access: Access }> &
  If<S['params'], { params: S['params'] }> &
  If<S['query'], { query: S['query'] }> &
  If<S['headers'], { headers: S['headers'] }> &
  If<S['body'], BodyFields<S['bodyFormat'], S['body']>> &
  If<S['admitted'], { admitted: S['admitted'] }> &
  If<S['audit'], { audit: AuditTrail }>;

export interface RouteResult {
  status: number;
  /**
   * JSON with `RawJson` pieces; absent for 204. Bytes, and text with a stated Content-Type, are sent unchanged. A
   * stream is sent as it arrives; if it breaks, the connection breaks too.
   */
  body?: unknown;
  headers?: Record<string, string>;
  /** A stream that lasts as long as the caller wants is disconnected when the caller has taken nothing for so long. */
  stalledMs?: number;
  /**
   * The answer follows later, and this is what else it takes. It is called once the body and its memory are released, and
   * the time until then does not count as the time that the service takes. Everything else of this result is ignored.
   */
  later?: () => Promise<RouteResult>;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * `json`: an object of the media type application/json. `exact`: the same, with all numbers kept as they are written.
 * `verbatim`: the same as `json`, with its bytes kept and no text in it refused. `text`: any text of any media type, passed to
 * `body` as a string. `run-input`: what api/runs/read-run-input.ts makes of it. `bytes`: anything, in `bodyBytes` alone.
 * `stream`: anything, by `bodyStream`; its limit is the handler's.
 */
export type BodyFormat = 'json' | 'exact' | 'verbatim' | 'text' | 'run-input' | 'bytes' | 'stream';

interface RouteShape {
  method: Method;
  /** The path with its trailing slash, which requests may omit. */
  path: string;
  summary: string;
  /** Markdown with the details that do not fit into the summary. */
  description?: string;
  auth: Auth;
  /**
   * An API key needs the scope `full` unless stated: `run` is enough for what runs workflows and answers what runs ask
   * (docs/use/api.md, "Keys of your own", names it). A GET is open to the scope `read`, too.
   */
  keyScope?: 'run';
  /** A request that a browser sends for a page of another origin gets 403, before anything else of it is looked at. */
  ownOriginOnly?: boolean;
  /** Everybody else gets 403, before anything of the request is looked at. */
  isForAdministrators?: boolean;
  /** Without a `body` schema no body is read. Default `json`. */
  bodyFormat?: BodyFormat;
  /** Answers a body that cannot be parsed, for clients who expect other words than `parse_error`. */
  answerUnparsed?: (error: ApiError) => RouteResult;
  /** Query parameters of which every value counts: `query` gets an array. Of all others the last value counts. */
  repeatable?: readonly string[];
  /** An answer 304 does not count against the caller's rate limit. */
  countsNo304?: boolean;
  /**
   * The drawing of the workflow in the path is read whole: as text, or `parsed`, too. Memory for it is taken before, and a
   * large one is read in its turn (heavy-turns.ts).
   */
  readsDrawing?: 'text' | 'parsed';
  /** Default 10 MiB, of an open route without `admit` 64 KiB. */
  maxBodyBytes?: number;
  /**
   * Answers by status; `z.null()` for an empty one. The documentation adds what every route may answer
   * (openapi/common-answers.ts).
   */
  responses: Record<number, z.ZodType>;
  /** The media types of answers that have others than application/json. */
  mediaTypes?: Partial<Record<number, string[]>>;
  /** Headers of its own that its good answers have, for the documentation. */
  answerHeaders?: readonly string[];
  /** Describes all other statuses, for answers that another server determines. */
  otherAnswers?: string;
  /** Frequent requests such as health checks are logged at debug level. */
  quiet?: boolean;
}

/** A route that changes something says what the audit log tells of it. */
type Audited<P, U> =
  | { method: 'GET'; audit?: AuditRule<P> & U }
  | { method: Exclude<Method, 'GET'>; audit: AuditRule<P> & U };

export type RouteSpec<
  D,
  A extends Auth,
  R extends AccessRule | undefined,
  P,
  Q,
  H,
  B,
  F extends BodyFormat,
  T,
  U extends Declared['audit'],
> = Omit<RouteShape, 'auth' | 'keyScope' | 'bodyFormat'> &
  Audited<NoInfer<P>, U> & {
    auth?: A;
    keyScope?: A extends 'key' ? 'run' : never;
    access?: R;
    /** The `id` alone unless stated, where `access` is to a project or workflow. */
    params?: z.ZodType<P>;
    query?: z.ZodType<Q>;
    /** Names in lower case; headers that are not listed are ignored. */
    headers?: z.ZodType<H>;
    body?: z.ZodType<B>;
    bodyFormat?: F;
    /**
     * Accepts the request of an open route by its path. The body is read only after that, and may then have more than 64 KiB.
     * Throws the error that is the answer to a request that is not accepted.
     */
    admit?: (request: { deps: D; params: P }) => Promise<Admitted<T>>;
    handler(
      context: RouteContext<
        D,
        { auth: A; access: R; params: P; query: Q; headers: H; body: B; bodyFormat: F; admitted: T; audit: U }
      >,
    ): Promise<RouteResult> | RouteResult;
  };

/** What a route says of itself, for the steps of a request and for the documentation. */
export interface RouteDeclaration extends RouteShape {
  audit?: AuditRule;
  access?: AccessRule;
  params?: z.ZodType;
  query?: z.ZodType;
  headers?: z.ZodType;
  body?: z.ZodType;
}

/** A route whose handler uses the dependencies `D`; the types of its declaration are erased. */
export interface Route<D = unknown> extends RouteDeclaration {
  admit?: (request: { deps: D; params: unknown }) => Promise<Admitted<unknown>>;
  handler: (context: CommonContext<D> & DeclaredContext) => Promise<RouteResult>;
}

type ParamsOf<R extends AccessRule | undefined> = R extends { to: 'project' | 'workflow' } ? { id: number } : undefined;

/**
 * Returns the function that declares a route of a subject, whose handlers use the dependencies `D`. It checks a declaration
 * against its own schemas; the handler gets their output.
 */
export function routesOf<D>() {
  return <
    A extends Auth = 'key',
    R extends AccessRule | undefined = undefined,
    P = ParamsOf<R>,
    Q = undefined,
    H = undefined,
    B = undefined,
    F extends BodyFormat = 'json',
    T = undefined,
    U extends Declared['audit'] = undefined,
  >(
    spec: RouteSpec<D, A, R, P, Q, H, B, F, T, U>,
  ): Route<D> => {
    const hasId = spec.access?.to === 'project' || spec.access?.to === 'workflow';
    return { auth: 'key', ...(hasId && { params: idParams }), ...spec } as unknown as Route<D>;
  };
}
