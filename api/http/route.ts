// Declares routes. Validation, access check and documentation are derived from the declaration.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Transaction } from 'kysely';
import type { z } from 'zod';
import type { Logger } from '../../telemetry/logger.js';
import type { Database } from '../../db/core/client.js';
import type { KeyScope, Role, Tables } from '../../db/core/tables.js';
import type { Reach } from '../../db/access/reach.js';
import type { AuditRule, AuditTrail, RunsInTransaction } from './audit-rule.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { ApiError } from './errors.js';
import { idParams } from './path-ids.js';

/**
 * - `key`: a user's API key or session token.
 * - `session`: a session token only, for what a stolen key must not do, such as creating keys.
 * - `bearer-key`: the API key as a bearer token, as clients of the chat proxy and of MCP send it.
 * - `optional`: open to all; valid credentials identify the caller.
 * - `internal`: the token INTERNAL_SERVICE_TOKEN, for executors outside of this repository.
 * - `open`: no credentials.
 */
export type Auth = 'key' | 'session' | 'bearer-key' | 'optional' | 'internal' | 'open';

/**
 * The user, the only project that a restricted key reaches, and the kind of credential. What only a session may do, and
 * the form of the body of run and re-run, depend on the kind; the assistant in the editor counts as a `key`.
 */
export interface Caller extends Reach {
  credential: 'key' | 'session';
  /** Absent for sessions and for the assistant in the editor. */
  keyId?: number;
  /** The scope of the key; absent for sessions and for the assistant in the editor. */
  scope?: KeyScope;
  /** The name of the assistant that acts for the user (docs/use/assistants.md). */
  client?: string;
  /** Set for the assistant in the editor: its run, and the workflow that it may change. */
  assistant?: { runId: string; workflowId: number };
  /**
   * The id of a session that this service opened (api/sessions/). Absent for keys, for tokens of other services and for
   * the assistant in the editor.
   */
  sessionId?: string;
}

/**
 * The path's `id` names a project or a workflow, its `workflow_run_id` a run, its `file_id` a file and its
 * `conversation_id` a conversation. A caller without a role gets 404, or 403 if only the restriction of the key to
 * another project hides the object. A caller whose role is too low gets `refusal` (default 403).
 */
export interface AccessRule {
  to: 'project' | 'workflow' | 'run' | 'file' | 'conversation';
  role: Role;
  refusal?: 400 | 403;
  /**
   * Only for a project: administrators of the service pass, too, in a session and whatever their role; the handler
   * decides what they may do (`Access.isAdministrator`).
   */
  orAdministrators?: true;
}

export interface Access {
  projectId: number;
  /** An administrator who is no member has the lowest role, `viewer`. */
  role: Role;
  workflowId?: number;
  /**
   * Set for every administrator of the service, also a member, in a session on a route with
   * `AccessRule.orAdministrators`.
   */
  isAdministrator?: true;
  /** Set for an administrator who is no member. */
  isStranger?: true;
}

/** The result of the lookup by path that an open route makes before the body is read. */
export interface Admitted<T> {
  found: T;
  /**
   * Replaces the network of the sender as the owner to whom memory, large work and database connections are accounted,
   * for example by `project:7`.
   */
  tenant?: string;
  /** Lowers the route's limit on the body for the admitted sender. */
  maxBodyBytes?: number;
}

interface CommonContext<D> {
  deps: D;
  log: Logger;
  /** The owner to whom memory and large work are accounted. */
  tenant: string;
  /**
   * The memory of the request, which a handler may enlarge. It is leased until the answer was sent; for a deferred
   * answer or a stream, until the handler has returned (api/dispatch/await-later.ts).
   */
  memory: ByteLease;
  /** All headers of the request, with names in lower case, also those that the route does not declare. */
  requestHeaders: IncomingHttpHeaders;
  /** The address of the peer, which may be a proxy (api/access/visitor.ts); empty if the peer has hung up. */
  peerAddress: string;
  /** Aborted if the connection closes before the whole answer is sent, or the service ends the caller's stream. */
  signal: AbortSignal;
}

export interface DeclaredContext {
  /** Absent for `open` and `internal`, and for `optional` without valid credentials. */
  caller?: Caller | undefined;
  access?: Access | undefined;
  params?: unknown;
  query?: unknown;
  headers?: unknown;
  body?: unknown;
  /** The unmodified bytes of the body if `bodyFormat` is `verbatim`, `bytes` or `json-bytes`. */
  bodyBytes?: Buffer;
  /** Starts to receive the body if `bodyFormat` is `stream`. May be called once. See api/http/stream-body.ts. */
  bodyStream?: (limitBytes: number) => Readable;
  admitted?: unknown;
  /**
   * Set if the route has an audit rule. Records changes that the handler commits itself, and refusals that it answers
   * itself.
   */
  audit?: AuditTrail;
}

/**
 * The dependencies of a handler that runs in the transaction of its audit record. `db` is that transaction, which
 * commits together with the record.
 */
export type InTransaction<D> = Omit<D, 'db'> & {
  db: Transaction<Tables>;
  /** The database outside of the transaction, for reads while the answer is sent. */
  answerDb: Database;
};

/** The types of a declaration; undefined for a part that the route does not declare. */
interface Declared {
  auth: Auth;
  access: AccessRule | undefined;
  params: unknown;
  query: unknown;
  headers: unknown;
  body: unknown;
  bodyFormat: BodyFormat;
  admitted: unknown;
  audit: Pick<AuditRule, 'action' | 'target' | 'records' | 'commits'> | undefined;
}

type If<Type, Fields> = [Type] extends [undefined] ? unknown : Fields;

type BodyFields<F, B> = F extends 'stream'
  ? Required<Pick<DeclaredContext, 'bodyStream'>>
  : F extends 'bytes' | 'json-bytes'
    ? Required<Pick<DeclaredContext, 'bodyBytes'>>
    : { body: B } & (F extends 'verbatim' ? Required<Pick<DeclaredContext, 'bodyBytes'>> : unknown);

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
   * JSON, which may hold `RawJson` and `LazyJson`; absent for an empty answer. Bytes, and text with a stated
   * Content-Type, are sent unchanged. A stream is sent as it arrives; if it breaks, the connection breaks too.
   */
  body?: unknown;
  headers?: Record<string, string>;
  /**
   * An event stream or a file is cut off if nothing was sent for this time: its caller reads nothing, or its source has
   * stopped.
   */
  stalledMs?: number;
  /**
   * Defers the answer; every other field of this result is ignored. Called after the body and its memory are released;
   * the time from then on does not count as the service's duration.
   */
  later?: () => Promise<RouteResult>;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * - `json`: JSON of the media type application/json, or of one that ends with `+json`.
 * - `exact`: like `json`, with all numbers as they are written.
 * - `verbatim`: like `json`, but accepts text that cannot be stored and numbers that a double cannot keep; `bodyBytes`
 *   has the bytes.
 * - `text`: any text of any media type, passed to `body` as a string.
 * - `run-input`: parsed by api/runs/read-run-input.ts.
 * - `bytes`: anything, in `bodyBytes` alone.
 * - `json-bytes`: of the same media types as `json`, in `bodyBytes` alone: another process parses it.
 * - `stream`: anything, by `bodyStream`; the handler sets its limit.
 */
export type BodyFormat = 'json' | 'exact' | 'verbatim' | 'text' | 'run-input' | 'bytes' | 'json-bytes' | 'stream';

interface RouteShape {
  method: Method;
  /** The path with its trailing slash, which requests may omit. */
  path: string;
  summary: string;
  /** Markdown with the details that do not fit into the summary. */
  description?: string;
  auth: Auth;
  /**
   * Keys of the scope `full` pass everywhere, those of `read` with every GET, and those of `run` on routes of
   * `bearer-key`. This field admits the keys of one more scope; with `read`, those of `run` are refused
   * (docs/use/api.md, "Keys of your own").
   */
  keyScope?: 'run' | 'read';
  /** Also admits the assistant in the editor, whose tools send a token of its run instead of a key. */
  admitsAssistants?: boolean;
  /** Refuses browser requests from pages of other origins, except CORS_ORIGINS, with 403, before any other check. */
  ownOriginOnly?: boolean;
  /** Callers who are no administrators get 403, before the access check and the validation. */
  isForAdministrators?: boolean;
  /**
   * The route is no GET, and changes nothing; or, like `/mcp`, it refuses changes itself while PostgreSQL has no room,
   * and answers its other requests even then.
   */
  isRead?: true;
  /** Default `json`. Without a `body` schema no body is read. */
  bodyFormat?: BodyFormat;
  /** Answers a body that cannot be parsed, for clients that expect another error than `parse_error`. */
  answerUnparsed?: (error: ApiError) => RouteResult;
  /** Query parameters that may be repeated: `query` gets an array. The last value of other parameters counts. */
  repeatable?: readonly string[];
  /** An answer 304 does not count against the caller's rate limit. */
  countsNo304?: boolean;
  /**
   * The route reads the whole drawing of the workflow in the path, or of the workflow of the conversation there: as
   * text, or also `parsed`. Memory for the drawing is leased first, and a large drawing or body waits in a fair queue
   * (heavy-work.ts).
   */
  readsDrawing?: 'text' | 'parsed';
  /**
   * The body holds a drawing that is read like the stored one: memory for it is leased, too. Only has an effect
   * together with `readsDrawing` or one of the next three fields.
   */
  takesDrawing?: true;
  /** Like `readsDrawing`, for the caller's draft of the workflow in the path. */
  readsDraft?: 'text' | 'parsed';
  /** Like `readsDraft`, for the draft as it was before the newest answer of the assistant in the editor. */
  readsBaseline?: 'text';
  /**
   * The key of a drawing in the body whose actions the route resolves. Memory for what `resolveActions` adds to the
   * drawing is leased before.
   */
  resolvesActions?: 'data' | 'drawing';
  /** Default 10 MiB. An open route without `admit` accepts at most 64 KiB. */
  maxBodyBytes?: number;
  /**
   * Answers by status; `z.null()` for an empty one. The documentation adds those that follow from the rest of the
   * declaration (openapi/common-answers.ts).
   */
  responses: Record<number, z.ZodType>;
  mediaTypes?: Partial<Record<number, string[]>>;
  /** The route's own headers in successful answers, for the documentation. */
  answerHeaders?: readonly string[];
  /** Describes all other statuses, for answers that another server determines. */
  otherAnswers?: string;
  /** Frequent requests such as health checks are logged at debug level. */
  quiet?: boolean;
}

/** Every route that is no GET must declare its audit rule, even if it changes nothing. */
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
    keyScope?: A extends 'key' ? 'run' : A extends 'bearer-key' ? 'read' : never;
    access?: R;
    /** Default for access to a project or workflow: `id` alone. */
    params?: z.ZodType<P>;
    query?: z.ZodType<Q>;
    /** Names in lower case; headers that are not listed are ignored. */
    headers?: z.ZodType<H>;
    body?: z.ZodType<B>;
    bodyFormat?: F;
    /**
     * Accepts the request of an open route by its path; throws the error that answers a refused one. The body is read
     * only after that, and may then exceed 64 KiB.
     */
    admit?: (request: { deps: D; params: P }) => Promise<Admitted<T>>;
    handler(
      context: RouteContext<
        D,
        { auth: A; access: R; params: P; query: Q; headers: H; body: B; bodyFormat: F; admitted: T; audit: U }
      >,
    ): Promise<RouteResult> | RouteResult;
  };

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
 * Returns the function that declares the routes of a subject, whose handlers use the dependencies `D`. The function
 * infers the handler's context from the schemas of the declaration.
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
