import type { RouterContext } from '@koa/router';
import type { Middleware } from 'koa';
import type { Logger } from '../../config/logger.js';
import type { Access, Caller, Polled, Route } from './route.js';

/** What the middleware has found out about a request. */
export interface AppState {
  log: Logger;
  /** Set once a route has matched. */
  route?: Route;
  /** In place of a route, where the console has answered: what the request counts as in the log and in the metrics. */
  console?: Pick<Route, 'path'> & { quiet: boolean };
  caller?: Caller;
  access?: Access;
  polled?: Polled;
  /** Of a sign-in: whom the account belongs to. */
  accountId?: number;
  isRefusalRecorded?: boolean;
  /** Since when the caller waits because it wants to: what follows does not count as the time that the service takes. */
  heldSinceMs?: number;
}

export type AppMiddleware = Middleware<AppState>;
export type AppContext = RouterContext<AppState>;
