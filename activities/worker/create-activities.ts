// The registry of activities, named for the operators who see them in the Temporal UI.
import type { Logger } from '../../config/logger.js';
import type { ModelProviders } from '../../config/model-providers.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { TurnKey } from '../../db/agents/agent-repository.js';
import { createToolsStep } from '../kinds/agent/agent-tools.js';
import { createTurnStep, type AgentDeps, type TurnFacts } from '../kinds/agent/agent-turn.js';
import { createConditionRunner } from '../kinds/condition.js';
import { reportRunEnd, type FinishRunInput } from '../node/finish-run.js';
import { createFreshRuns } from '../node/fresh-runs.js';
import { createFusedNodes, type NodeWorks } from '../dense/fused-nodes.js';
import { createHttpRunner } from '../kinds/http/http.js';
import { createLlmRunner } from '../kinds/llm/llm.js';
import { createMcpRunner } from '../kinds/mcp/mcp.js';
import { createMcpSessions } from '../kinds/mcp/mcp-sessions.js';
import { createModelClients } from '../kinds/llm/model-clients.js';
import type { ByteBudget } from '../../outgoing/byte-budget.js';
import type { McpClient } from '../../outgoing/mcp-client.js';
import type { OutgoingClient } from '../../outgoing/outgoing-client.js';
import type { RunContexts } from '../node/run-context.js';
import { runLocalNode, runNode, runStep, runTrigger, type NodeDeps } from '../node/run-node.js';
import { Slots } from '../dense/slots.js';
import { createActivityTracer } from './trace-activity.js';
import { triggerRunner } from '../kinds/trigger.js';
import type { WorkerMetrics } from './worker-metrics.js';

export interface ActivityDeps {
  db: Database;
  secretBox: SecretBox;
  contexts: RunContexts;
  outgoing: OutgoingClient;
  mcp: McpClient;
  providers: ModelProviders;
  /** What the nodes of all runs may keep in memory together. */
  memory: ByteBudget;
  /** Nodes at once. */
  activitySlots: number;
  logger: Logger;
  metrics: WorkerMetrics;
  apiInternalUrl: string;
  internalServiceToken: string;
}

export type Activities = ReturnType<typeof createActivities>;

export function createActivities(deps: ActivityDeps) {
  const { db, secretBox, contexts, memory, logger, metrics, providers } = deps;
  const nodeDeps: NodeDeps = { db, secretBox, contexts, fresh: createFreshRuns(), memory, logger, metrics };
  const conditionRunner = createConditionRunner(contexts);
  const httpRunner = createHttpRunner({ db, contexts, client: deps.outgoing });
  const sessions = createMcpSessions(deps.mcp);
  const clients = createModelClients(db, secretBox, metrics);
  const llmRunner = createLlmRunner({ db, contexts, providers, clients });
  const agentDeps: AgentDeps = { db, secretBox, contexts, providers, clients, sessions, node: nodeDeps };
  const mcpRunner = createMcpRunner({ db, contexts, sessions });
  const report = (end: FinishRunInput): Promise<void> => reportRunEnd(deps, end);
  const trace = createActivityTracer(contexts);
  const nodes = {
    trigger: { name: 'trigger', run: (ref) => runTrigger(nodeDeps, ref, triggerRunner) },
    condition: { name: 'condition', run: (ref) => runLocalNode(nodeDeps, ref, conditionRunner) },
    http: { name: 'httpRequest', run: (ref) => runNode(nodeDeps, ref, httpRunner) },
    llm: { name: 'llmRequest', run: (ref) => runNode(nodeDeps, ref, llmRunner) },
    mcp: { name: 'mcpTool', run: (ref) => runNode(nodeDeps, ref, mcpRunner) },
  } satisfies NodeWorks;
  const slots = { normal: new Slots(deps.activitySlots), local: new Slots(deps.activitySlots) };
  const doNodes = createFusedNodes({ contexts, nodes, slots, report, trace });
  return {
    // By the kind that each is for in the run workflow; which nodes they do, they are told.
    trigger: doNodes,
    condition: doNodes,
    httpRequest: doNodes,
    llmRequest: doNodes,
    mcpTool: doNodes,
    agentTurn: (step: TurnKey): Promise<TurnFacts> =>
      trace('agentTurn', step, () => runStep(nodeDeps, step, createTurnStep(agentDeps, step))),
    agentTools: (step: TurnKey): Promise<void> =>
      trace('agentTools', step, () => runStep(nodeDeps, step, createToolsStep(agentDeps, step))),
    finishRun: (end: FinishRunInput): Promise<void> => trace('finishRun', end, () => report(end)),
  };
}
