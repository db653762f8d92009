import { join } from 'node:path';
import Router from '@koa/router';
import Koa from 'koa';
import type { AppMiddleware, AppState } from './http/app-state.js';
import type { AppDeps } from './deps.js';
import { readConsoleFiles } from './console/console-files.js';
import { serveConsole } from './console/serve-console.js';
import { dispatch } from './http/dispatch.js';
import { accessLog } from './http/middleware/access-log.js';
import { answerHeaders } from './http/middleware/answer-headers.js';
import { cors } from './http/middleware/cors.js';
import { answerDeadline } from './http/middleware/answer-deadline.js';
import { errors } from './http/middleware/errors.js';
import { requestId } from './http/middleware/request-id.js';
import { traceRequest } from './http/middleware/trace.js';
import { unmatched } from './http/middleware/unmatched.js';
import type { Route } from './http/route.js';
import { routes } from './http/registry.js';

/** Where the build puts it: beside this folder. */
const CONSOLE = join(import.meta.dirname, '../console');

/** The HTTP service. */
export function createApp(deps: AppDeps): Koa<AppState> {
  const app = new Koa<AppState>();
  // Koa reports errors here that occur after the answer has begun, such as a client that hung up.
  app.on('error', (error: Error) => deps.logger.debug({ err: error }, 'answer broke off'));
  app
    .use(traceRequest())
    .use(requestId(deps.logger))
    .use(answerHeaders(deps.config.publicUrl))
    .use(accessLog(deps.metrics))
    .use(cors(deps.config.corsOrigins))
    .use(answerDeadline());
  app
    .use(errors())
    .use(serveConsole(readConsoleFiles(CONSOLE)))
    .use(unmatched());
  app.use(createRouter(deps).routes());
  return app;
}

function createRouter(deps: AppDeps): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true });
  const literals = new Set(routes.map(({ path }) => withoutSlash(path)).filter((path) => !path.includes(':')));
  for (const route of routes.toSorted(literalsFirst)) {
    // A path that is declared without its slash matches with and without one.
    const path = withoutSlash(route.path);
    const steps = dispatch(route, deps);
    router.register(path, [route.method], path.includes(':') ? [unlessLiteral(literals), ...steps] : steps);
  }
  return router;
}

/** A literal path such as `/workflows/get_nodes/` never matches the parameter of another route, whatever the method. */
function unlessLiteral(literals: Set<string>): AppMiddleware {
  return async (ctx, next) => {
    if (!literals.has(withoutSlash(ctx.path))) await next();
  };
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}

/** Sorts `/workflows/get_nodes/` before `/workflows/:id/`. */
function literalsFirst(a: Route, b: Route): number {
  const [left, right] = [sortKey(a), sortKey(b)];
  return left < right ? -1 : Number(left > right);
}

function sortKey(route: Route): string {
  return route.path.replaceAll(':', '\u{ffff}');
}
