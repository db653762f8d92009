import type { Route } from './route.js';
import { keyRoutes } from '../access/keys-routes.js';
import { meRoutes } from '../access/me-routes.js';
import { userRoutes } from '../access/users-routes.js';
import { approvalRoutes } from '../approvals/routes.js';
import { chatTransactionRoutes } from '../billing/chat-transactions-routes.js';
import { auditRoutes } from '../audit/routes.js';
import { billingRoutes } from '../billing/routes.js';
import { allRunsRoutes } from '../runs/all-runs-routes.js';
import { allWorkflowsRoutes } from '../workflows/all-workflows-routes.js';
import { callbackRoutes } from '../callbacks/routes.js';
import { modelRoutes } from '../chat/models-routes.js';
import { chatRoutes } from '../chat/routes.js';
import { createDocumentationRoutes } from './docs-routes.js';
import { executionUpdateRoutes } from '../runs/execution-update-routes.js';
import { humanTaskRoutes } from '../human-tasks/routes.js';
import { healthRoutes } from '../observability/health-routes.js';
import { liveRoutes } from '../live/routes.js';
import { deliveryRoutes } from '../hooks/delivery-routes.js';
import { hookRoutes } from '../hooks/routes.js';
import { scheduleRoutes } from '../schedules/routes.js';
import { historyRoutes } from '../runs/history-routes.js';
import { choiceRoutes } from '../marketplace/choices-routes.js';
import { marketplaceRoutes } from '../marketplace/routes.js';
import { publicationRoutes } from '../marketplace/publication-routes.js';
import { mcpToolsRoutes } from '../mcp/routes.js';
import { memberRoutes } from '../projects/members-routes.js';
import { spendingRoutes } from '../projects/spending-routes.js';
import { providerKeyRoutes } from '../projects/provider-keys-routes.js';
import { passwordRoutes } from '../sessions/password-routes.js';
import { userSessionRoutes } from '../sessions/user-sessions-routes.js';
import { oidcRoutes } from '../sessions/oidc-routes.js';
import { iterationRoutes } from '../runs/iteration-routes.js';
import { nodeRoutes } from '../runs/node-routes.js';
import { stepRoutes } from '../runs/step-routes.js';
import { projectRoutes } from '../projects/routes.js';
import { resumeRoutes } from '../runs/resume/resume-routes.js';
import { runFlagRoutes } from '../runs/run-flags-routes.js';
import { runRoutes } from '../runs/routes.js';
import { sessionRoutes } from '../sessions/session-routes.js';
import { signInRoutes } from '../sessions/routes.js';
import { toolRoutes } from '../tools/routes.js';
import { usageRoutes } from '../usage/routes.js';
import { webhookRoutes } from '../webhooks/routes.js';
import { workflowCheckRoutes } from '../workflows/checks-routes.js';
import { portingRoutes } from '../workflows/porting-routes.js';
import { workflowPositionRoutes } from '../workflows/positions-routes.js';
import { workflowVersionRoutes } from '../workflows/versions-routes.js';
import { workflowRoutes } from '../workflows/routes.js';

/** Every route of the service. */
export const routes: Route[] = [
  ...signInRoutes,
  ...sessionRoutes,
  ...passwordRoutes,
  ...userSessionRoutes,
  ...oidcRoutes,
  ...projectRoutes,
  ...memberRoutes,
  ...providerKeyRoutes,
  ...spendingRoutes,
  ...meRoutes,
  ...keyRoutes,
  ...userRoutes,
  ...webhookRoutes,
  ...workflowRoutes,
  ...workflowPositionRoutes,
  ...workflowVersionRoutes,
  ...portingRoutes,
  ...workflowCheckRoutes,
  ...mcpToolsRoutes,
  ...runRoutes,
  ...resumeRoutes,
  ...liveRoutes,
  ...historyRoutes,
  ...allRunsRoutes,
  ...nodeRoutes,
  ...stepRoutes,
  ...iterationRoutes,
  ...approvalRoutes,
  ...humanTaskRoutes,
  ...callbackRoutes,
  ...hookRoutes,
  ...scheduleRoutes,
  ...deliveryRoutes,
  ...toolRoutes,
  ...runFlagRoutes,
  ...billingRoutes,
  ...chatTransactionRoutes,
  ...usageRoutes,
  ...auditRoutes,
  ...allWorkflowsRoutes,
  ...publicationRoutes,
  ...marketplaceRoutes,
  ...choiceRoutes,
  ...chatRoutes,
  ...modelRoutes,
  ...executionUpdateRoutes,
  ...healthRoutes,
  ...createDocumentationRoutes(() => routes),
];
