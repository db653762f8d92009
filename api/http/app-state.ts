import type { RouterContext } from '@koa/router';
import type { Middleware } from 'koa';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Access, Caller, RouteDeclaration } from './route.js';

/**
 * Called once the answer is known, and returns the rate limit's headers then. Throws 429 when the request counts after all
 * and the limit is exceeded.
 */
export type Settle = (isToCount: boolean) => Promise<Record<string, string>>;

/** The facts that the middleware has found out about a request. */
export interface AppState {
  log: Logger;
  /** Set once a route has matched. */
  route?: RouteDeclaration;
  /** In place of a route, where the console has answered: what the request counts as in the log and in the metrics. */
  console?: Pick<RouteDeclaration, 'path'> & { quiet: boolean };
  /** Aborted when the caller hangs up before it has the whole answer. */
  hangUp: AbortController;
  /** The signal of `hangUp`. */
  signal: AbortSignal;
  /** The memory of the request: its body, and what is in memory of its answer. */
  memory?: ByteLease;
  caller?: Caller;
  /** For whom memory, turns and connections to the database are taken. */
  tenant?: string;
  access?: Access;
  /** Set where the answer decides whether the request counts against the rate limit (`countsNo304`). */
  settle?: Settle;
  /** The user whose account a sign-in is for. */
  accountId?: number;
  isRefusalRecorded?: boolean;
  /** Since when the caller waits because it wants to: what follows does not count as the time that the service takes. */
  heldSinceMs?: number;
}

export type AppMiddleware = Middleware<AppState>;
export type AppContext = RouterContext<AppState>;
