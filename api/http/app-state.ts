import type { RouterContext } from '@koa/router';
import type { Middleware } from 'koa';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Access, Caller, RouteDeclaration } from './route.js';

/**
 * Called when the answer has decided whether the request counts against the rate limit; returns the limit's headers. If
 * a request counts that was not counted when it arrived, this throws 429 above the limit, and 401 or 403 if the caller
 * has lost its access meanwhile.
 */
export type Settle = (isToCount: boolean) => Promise<Record<string, string>>;

export interface AppState {
  log: Logger;
  route?: RouteDeclaration;
  /** Set instead of `route` for a page or asset of the console, for logs and metrics. */
  console?: Pick<RouteDeclaration, 'path'> & { quiet: boolean };
  /** Aborted if the connection closes before the whole answer is sent, or the service ends the caller's stream. */
  hangUp: AbortController;
  /** The signal of `hangUp`. */
  signal: AbortSignal;
  /**
   * Leased for the body of the request, for what the handler reads, such as drawings and files, and for the parts of
   * the answer that are in memory.
   */
  memory?: ByteLease;
  caller?: Caller;
  /** The user, project or network to which memory, large work and database connections are accounted. */
  tenant?: string;
  access?: Access;
  /** Set if the answer decides whether the request counts against the rate limit (`countsNo304`). */
  settle?: Settle;
  /** The user whose account a sign-in is for. */
  accountId?: number;
  isRefusalRecorded?: boolean;
  /**
   * The `performance.now()` at which the service began to wait for a deferred answer, or to send a stream or file. The
   * time from then on is logged as `held_ms`, not as the service's duration.
   */
  heldSinceMs?: number;
}

export type AppMiddleware = Middleware<AppState>;
export type AppContext = RouterContext<AppState>;
