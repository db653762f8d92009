// The registry of activities. Their names are for the operators who see them in the Temporal UI.
import type { Activities, NodeActivities } from '../../contract/activities.js';
import type { NodeFacts, NodeRef } from '../../contract/nodes.js';
import type { ScheduleActivities } from '../../contract/scheduled-run.js';
import { createSnapshotStore } from '../../acceptance/store-run.js';
import type { Logger } from '../../config/logger.js';
import type { ModelProviders } from '../../config/model-providers.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import { recordCaughtFailure } from '../../db/nodes/node-results-repository.js';
import { kinds, kindsThatRun, type KindThatRuns } from '../../graph/kinds.js';
import type { EvaluatedKind } from '../../graph/nodes/registry.js';
import type { ByteBudget } from '../../outgoing/byte-budget.js';
import type { McpClient } from '../../outgoing/mcp-types.js';
import type { OutgoingClient } from '../../outgoing/outgoing-client.js';
import type { Processes } from '../../processes/processes.js';
import { createExecuteNode } from '../dense/execute-node.js';
import { createNodeChain } from '../dense/node-chain.js';
import { Slots } from '../dense/slots.js';
import type { AgentDeps } from '../kinds/agent/agent-step.js';
import { createToolsStep } from '../kinds/agent/agent-tools.js';
import { createTurnStep } from '../kinds/agent/agent-turn.js';
import { createCodeRunner } from '../kinds/code/code.js';
import type { Sandbox } from '../kinds/code/sandbox.js';
import { createHttpRunner } from '../kinds/http/http.js';
import { createInlineRunner } from '../kinds/inline.js';
import { createJudge, type JudgeFor } from '../kinds/judge-conditions.js';
import { createLlmRunner } from '../kinds/llm/llm.js';
import { createModelClients } from '../kinds/llm/model-clients.js';
import { createForEachStep, createLoopStep } from '../kinds/loop/begin-loop.js';
import { createEndIterationsStep } from '../kinds/loop/end-iterations.js';
import { createEndLoopStep } from '../kinds/loop/end-loop.js';
import { createMcpRunner } from '../kinds/mcp/mcp.js';
import { createMcpSessions } from '../kinds/mcp/mcp-sessions.js';
import { createFormChecker } from '../kinds/structured-answer.js';
import { createTriggerStep } from '../kinds/trigger.js';
import { createEndWaitStep } from '../kinds/end-wait.js';
import { createAskStep } from '../kinds/human.js';
import { createBeginWaitStep } from '../kinds/wait.js';
import { createBeginChildStep } from '../kinds/sub-workflow.js';
import { loadKept } from '../node/load-kept.js';
import { loadPlan } from '../node/load-plan.js';
import type { CallbackUrls } from '../node/callback-urls.js';
import type { NodeDeps, NodeStep } from '../node/node-step.js';
import { reportRunEnd, reportWithLastNode, type ReportRunEnd } from '../node/report-end.js';
import type { RunContexts } from '../node/run-context.js';
import { claimAndAttempt, runInline, runStep, toStep } from '../node/run-node.js';
import { createScheduleActivities } from '../schedules/schedule-activities.js';
import { createActivityTracer } from './trace-activity.js';
import type { WorkerMetrics } from './worker-metrics.js';

interface ActivityDeps {
  db: Database;
  secretBox: SecretBox;
  contexts: RunContexts;
  callbacks: CallbackUrls;
  outgoing: OutgoingClient;
  mcp: McpClient;
  sandbox: Sandbox;
  processes: Processes;
  providers: ModelProviders;
  /** The memory budget that the nodes of all runs share. */
  memory: ByteBudget;
  /** The limit on nodes that are executed at once. */
  activitySlots: number;
  logger: Logger;
  metrics: WorkerMetrics;
  /** How long a run may last in all. */
  runTimeoutDays: number;
  apiInternalUrl: string;
  internalServiceToken: string;
}

type Steps = Record<KindThatRuns<'activity' | 'inline'>, NodeStep<NodeFacts>>;

export function createActivities(deps: ActivityDeps): Activities & ScheduleActivities {
  const { db, secretBox, contexts, memory, logger, metrics, providers } = deps;
  const node: NodeDeps = { db, secretBox, contexts, memory, logger, metrics };
  const sessions = createMcpSessions(deps.mcp);
  const clients = createModelClients(db, secretBox, metrics);
  const forms = createFormChecker(deps.processes);
  const waits = { db, secretBox, contexts, callbacks: deps.callbacks };
  const children = { ...waits, snapshots: createSnapshotStore(db), runTimeoutDays: deps.runTimeoutDays };
  const agent: AgentDeps = { ...children, providers, clients, forms, sessions, node };
  const judge = createJudge(deps.processes);
  const loops = { db, secretBox, contexts, judge };
  const trace = createActivityTracer(contexts);
  const report: ReportRunEnd = (end) => trace('finishRun', end, () => reportRunEnd(deps, end));

  const steps: Steps = {
    ...toInlineSteps(contexts, judge),
    trigger: createTriggerStep(db),
    http: toStep(createHttpRunner({ db, contexts, client: deps.outgoing })),
    llm: toStep(createLlmRunner({ contexts, providers, clients, forms, node })),
    mcp: toStep(createMcpRunner({ db, contexts, sessions })),
    code: toStep(createCodeRunner({ contexts, sandbox: deps.sandbox, logger })),
  };
  const run = async (kind: keyof Steps, ref: NodeRef): Promise<NodeFacts> => {
    const { activity, runs } = kinds[kind];
    return trace(activity, ref, async () => {
      const facts = await (runs === 'inline' ? runInline : runStep)(node, ref, steps[kind]);
      return ref.endSequence === undefined ? facts : { ...facts, ...(await reportWithLastNode(report, ref.runId)) };
    });
  };
  const activities = Object.keys(steps).map((kind) => [
    kinds[kind as keyof Steps].activity,
    (ref: NodeRef) => run(kind as keyof Steps, ref),
  ]);
  return {
    ...(Object.fromEntries(activities) as NodeActivities),
    agentTurn: (ref) => trace('agentTurn', ref, () => runStep(node, ref, createTurnStep(agent, ref))),
    agentTools: (ref) => trace('agentTools', ref, () => runStep(node, ref, createToolsStep(agent, ref))),
    finishRun: report,
    forEach: (ref) => trace('forEach', ref, () => claimAndAttempt(node, ref, createForEachStep(loops))),
    loop: (ref) => trace('loop', ref, () => claimAndAttempt(node, ref, createLoopStep(loops))),
    endIterations: (ref) =>
      trace('endIterations', ref, () => runInline(node, ref, createEndIterationsStep(loops, ref))),
    endLoop: (ref) => trace('endLoop', ref, () => claimAndAttempt(node, ref, createEndLoopStep(loops, ref))),
    wait: (ref) => trace('wait', ref, () => runInline(node, ref, createBeginWaitStep(waits))),
    humanTask: (ref) => trace('humanTask', ref, () => runInline(node, ref, createAskStep(waits))),
    endWait: (ref) => trace('endWait', ref, () => runInline(node, ref, createEndWaitStep(waits, ref))),
    subWorkflow: (ref) => trace('subWorkflow', ref, () => runInline(node, ref, createBeginChildStep(children))),
    loadPlan: ({ runId }) => loadPlan(db, runId),
    loadKept: ({ runId }) => loadKept(db, runId),
    closeNode: ({ code, ...key }) => trace('closeNode', key, () => recordCaughtFailure(db, key, code)),
    ...createScheduleActivities({ ...children, memory }),
    nodeChain: createNodeChain({
      executeNode: createExecuteNode(node, steps, trace),
      slots: { normal: new Slots(deps.activitySlots), local: new Slots(deps.activitySlots) },
      report,
    }),
  };
}

function toInlineSteps(contexts: RunContexts, judge: JudgeFor): Record<EvaluatedKind, NodeStep<NodeFacts>> {
  const evaluated = kindsThatRun('inline').filter((kind) => kind !== 'trigger');
  const steps = evaluated.map((kind) => [kind, toStep(createInlineRunner(kind, { contexts, judge }))]);
  return Object.fromEntries(steps) as Record<EvaluatedKind, NodeStep<NodeFacts>>;
}
