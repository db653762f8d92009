import { join } from 'node:path';
import Router from '@koa/router';
import Koa from 'koa';
import { keyRoutes } from './access/keys-routes.js';
import { userRoutes } from './access/users-routes.js';
import { approvalRoutes } from './approvals/routes.js';
import { auditRoutes } from './audit/routes.js';
import { createBuildRoutes } from './build/routes.js';
import { billingRoutes } from './billing/routes.js';
import { callbackRoutes } from './callbacks/routes.js';
import { chatRoutes } from './chat/routes.js';
import { authorizeRoutes } from './connections/authorize-routes.js';
import { connectionRoutes } from './connections/routes.js';
import { connectionTestRoutes } from './connections/test-routes.js';
import { connectionPresetRoutes } from './connections/presets-routes.js';
import { assistantRoutes } from './conversations/assistant-routes.js';
import { messageRoutes } from './conversations/messages-routes.js';
import { conversationRoutes } from './conversations/routes.js';
import { readConsoleFiles } from './console/console-files.js';
import { serveConsole } from './console/serve-console.js';
import { fileRoutes } from './files/routes.js';
import { deliveryRoutes } from './hooks/delivery-routes.js';
import { hookRoutes } from './hooks/routes.js';
import type { AppMiddleware, AppState } from './http/app-state.js';
import type { DispatchDeps } from './dispatch/deps.js';
import { dispatch } from './dispatch/dispatch.js';
import { createDocumentationRoutes } from './http/docs-routes.js';
import { accessLog, requestId, traceRequest, type RequestDurations } from './http/middleware/request-log.js';
import { answerDeadline } from './http/middleware/answer-deadline.js';
import { answerHeaders } from './http/middleware/answer-headers.js';
import { cors } from './http/middleware/origins.js';
import { errors, unmatched } from './http/middleware/errors.js';
import type { Route, RouteDeclaration } from './http/route.js';
import { humanTaskRoutes } from './human-tasks/routes.js';
import { liveRoutes } from './streams/routes.js';
import { choiceRoutes } from './marketplace/choices-routes.js';
import { publicationRoutes } from './marketplace/publication-routes.js';
import { marketplaceRoutes } from './marketplace/routes.js';
import { mcpToolsRoutes } from './mcp-client/routes.js';
import { healthRoutes } from './observability/health-routes.js';
import { poolRoutes } from './pools/routes.js';
import { memberRoutes } from './projects/members-routes.js';
import { providerKeyRoutes } from './projects/provider-keys-routes.js';
import { projectRoutes } from './projects/routes.js';
import { spendingRoutes } from './projects/spending-routes.js';
import { allRunsRoutes } from './runs/all-runs-routes.js';
import { executionUpdateRoutes } from './runs/execution-update-routes.js';
import { historyRoutes } from './runs/history-routes.js';
import { iterationRoutes } from './runs/iteration-routes.js';
import { nodeRoutes } from './runs/node-routes.js';
import { resumeRoutes } from './runs/resume/resume-routes.js';
import { runRoutes } from './runs/routes.js';
import { runFlagRoutes } from './runs/run-flags-routes.js';
import { stepRoutes } from './runs/step-routes.js';
import { scheduleRoutes } from './schedules/routes.js';
import { oidcRoutes } from './sessions/oidc-routes.js';
import { passwordRoutes } from './sessions/password-routes.js';
import { serviceRoutes } from './services/routes.js';
import { signInRoutes } from './sessions/routes.js';
import { sessionRoutes } from './sessions/session-routes.js';
import { userSessionRoutes } from './sessions/user-sessions-routes.js';
import { toolRoutes } from './mcp-server/routes.js';
import { caseRoutes } from './test-runs/cases-routes.js';
import { pinRoutes } from './test-runs/pins-routes.js';
import { testRoutes } from './test-runs/test-routes.js';
import { modelRoutes } from './usage/models-routes.js';
import { usageRoutes } from './usage/routes.js';
import { webhookRoutes } from './webhooks/routes.js';
import { allWorkflowsRoutes } from './workflows/all-workflows-routes.js';
import { workflowCheckRoutes } from './workflows/checks-routes.js';
import { portingRoutes } from './workflows/porting-routes.js';
import { workflowPositionRoutes } from './workflows/positions-routes.js';
import { workflowRoutes } from './workflows/routes.js';
import { draftRoutes } from './workflows/draft-routes.js';
import { workflowVersionRoutes } from './workflows/versions-routes.js';

/** The build writes the console to a folder next to this one. */
const CONSOLE = join(import.meta.dirname, '../console');

export function createApp(deps: Deps): Koa<AppState> {
  const app = new Koa<AppState>();
  // Koa reports errors here that occur after the answer has started, for example if the client disconnects.
  app.on('error', (error: Error) => deps.logger.debug({ err: error }, 'the answer broke off'));
  app
    .use(traceRequest())
    .use(requestId(deps.logger))
    .use(answerHeaders(deps.config.publicUrl))
    .use(accessLog(deps.metrics.requestSeconds))
    .use(cors(deps.config.corsOrigins))
    .use(answerDeadline());
  app
    .use(errors(deps.databaseHealth))
    .use(serveConsole(readConsoleFiles(CONSOLE)))
    .use(unmatched());
  app.use(createRouter(deps).routes());
  return app;
}

function createRouter(deps: Deps): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true });
  const literals = new Set(routes.map(({ path }) => withoutSlash(path)).filter((path) => !path.includes(':')));
  for (const route of routes.toSorted(literalsFirst)) {
    // A path that is registered without its slash matches with and without one.
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
function literalsFirst(a: RouteDeclaration, b: RouteDeclaration): number {
  const [left, right] = [sortKey(a), sortKey(b)];
  return left < right ? -1 : Number(left > right);
}

function sortKey(route: RouteDeclaration): string {
  return route.path.replaceAll(':', '\u{ffff}');
}

const subjects = [
  ...testRoutes,
  ...pinRoutes,
  ...caseRoutes,
  ...signInRoutes,
  ...sessionRoutes,
  ...passwordRoutes,
  ...userSessionRoutes,
  ...oidcRoutes,
  ...projectRoutes,
  ...memberRoutes,
  ...poolRoutes,
  ...providerKeyRoutes,
  ...spendingRoutes,
  ...keyRoutes,
  ...userRoutes,
  ...webhookRoutes,
  ...workflowRoutes,
  ...workflowPositionRoutes,
  ...workflowVersionRoutes,
  ...draftRoutes,
  ...portingRoutes,
  ...workflowCheckRoutes,
  ...mcpToolsRoutes,
  ...runRoutes,
  ...resumeRoutes,
  ...liveRoutes,
  ...fileRoutes,
  ...historyRoutes,
  ...allRunsRoutes,
  ...nodeRoutes,
  ...stepRoutes,
  ...iterationRoutes,
  ...approvalRoutes,
  ...humanTaskRoutes,
  ...callbackRoutes,
  ...connectionRoutes,
  ...serviceRoutes,
  ...conversationRoutes,
  ...messageRoutes,
  ...assistantRoutes,
  ...authorizeRoutes,
  ...connectionTestRoutes,
  ...hookRoutes,
  ...scheduleRoutes,
  ...deliveryRoutes,
  ...toolRoutes,
  ...runFlagRoutes,
  ...billingRoutes,
  ...usageRoutes,
  ...modelRoutes,
  ...auditRoutes,
  ...allWorkflowsRoutes,
  ...publicationRoutes,
  ...marketplaceRoutes,
  ...choiceRoutes,
  ...connectionPresetRoutes,
  ...chatRoutes,
  ...executionUpdateRoutes,
  ...healthRoutes,
];

type SubjectDeps = typeof subjects extends Route<infer D>[] ? D : never;

/** The process builds these once; each subject and each step of a request sees its part. */
type Deps = DispatchDeps & SubjectDeps & { metrics: { requestSeconds: RequestDurations } };

export const routes: Route<Deps>[] = [
  ...subjects,
  ...createBuildRoutes(() => routes),
  ...createDocumentationRoutes(() => routes),
];
