// The registry of activities. Operators see their names in the Temporal UI.
import { activityInfo } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type {
  Activities,
  EndIterationRef,
  FinishRunInput,
  NodeActivities,
  TurnFacts,
  TurnRef,
  WaitFacts,
  WalkRef,
} from '../../contract/activities.js';
import type { ScheduleActivities } from '../../contract/scheduled-run.js';
import { createSnapshotStore } from '../../acceptance/store-run.js';
import type { Logger } from '../../telemetry/logger.js';
import type { ModelProviders } from '../../config/model-providers.js';
import type { Connections } from '../../connections/open-connection.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import { findFixedResult } from '../../db/test-runs/test-runs-repository.js';
import type { Files } from '../../files/files.js';
import { kinds, kindsThatRun } from '../../graph/kinds.js';
import type { Execution } from '../../graph/document.js';
import type { EvaluatedKind } from '../../graph/nodes/registry.js';
import type { NodeKey } from '../../graph/plan.js';
import type { ByteBudget } from '../../memory/byte-budget.js';
import type { McpClient } from '../../outgoing/mcp-types.js';
import type { OutgoingClient } from '../../outgoing/outgoing-client.js';
import type { Processes } from '../../processes/processes.js';
import type { AgentDeps } from '../kinds/agent/agent-step.js';
import { createToolsStep } from '../kinds/agent/agent-tools.js';
import { createBuilderServer } from '../kinds/agent/tool-servers.js';
import { createTurnStep, type OpenTurn } from '../kinds/agent/agent-turn.js';
import { createCodeRunner } from '../kinds/code/code.js';
import type { Sandbox } from '../kinds/code/sandbox.js';
import { createHttpRunner } from '../kinds/http/http.js';
import { createInlineRunner } from '../kinds/inline.js';
import { createJudge, type JudgeFor } from '../kinds/judge-conditions.js';
import { createLlmRunner } from '../kinds/llm/llm.js';
import { createModelClients } from '../kinds/llm/model-clients.js';
import { createForEachStep, createLoopStep } from '../kinds/loop/begin-loop.js';
import { createEndIterationStep } from '../kinds/loop/end-iteration.js';
import { createEndLoopStep } from '../kinds/loop/end-loop.js';
import { createMcpRunner } from '../kinds/mcp/mcp.js';
import { createMcpSessions } from '../kinds/mcp/mcp-sessions.js';
import { createFormChecker } from '../kinds/structured-answer.js';
import { triggerRunner } from '../kinds/trigger.js';
import { createEndWaitStep } from '../kinds/end-wait.js';
import { createAskStep } from '../kinds/human.js';
import { createStartWaitStep } from '../kinds/wait.js';
import { createStartChildStep } from '../kinds/sub-workflow.js';
import { createLiveTexts } from '../live/live-texts.js';
import { loadPlan, loadReused } from '../node/load-run.js';
import type { CallbackUrls } from '../node/callback-urls.js';
import { recordFixedResult } from '../node/fixed-result.js';
import { finishRun } from '../node/finish-run.js';
import { attemptNode } from '../node/attempt.js';
import { createPoolNodes } from '../node/pool-node.js';
import { finalFailure, isFinal } from '../node/failures.js';
import { withHeartbeat } from '../node/heartbeat.js';
import { Isolation } from '../node/isolation.js';
import { createSharedWrites } from '../node/shared-writes.js';
import type { NodeDeps, NodeRunner, NodeStep } from '../node/node-step.js';
import type { RunContexts } from '../node/run-context.js';
import { createDocumentTexts } from '../files/document-texts.js';
import { createFileUse } from '../files/file-use.js';
import { createConnectionUse } from '../connections/use-connection.js';
import { settleWalk } from '../node/settle-walk.js';
import { createActivityTracer } from '../node/trace-activity.js';
import { NodeWaits } from '../node/wait-for-connection.js';
import { walk, type Runners, type WalkDeps } from '../node/walk.js';
import { createScheduleActivities } from '../schedules/schedule-activities.js';
import type { ProjectSlots } from './project-slots.js';
import type { WorkerMetrics } from './worker-metrics.js';

interface ActivityDeps {
  db: Database;
  secretBox: SecretBox;
  contexts: RunContexts;
  callbacks: CallbackUrls;
  outgoing: OutgoingClient;
  connections: Connections;
  files: Files;
  mcp: McpClient;
  /** Calls the API of this service, which may have a private address. */
  ownMcp: McpClient;
  /** The API's address, without a trailing slash. */
  internalApiUrl: string;
  sandbox: Sandbox;
  processes: Processes;
  /** Processes with enough memory for documents. */
  documents: Processes;
  providers: ModelProviders;
  /** The memory budget that all activities of this worker share. */
  memory: ByteBudget;
  slots: ProjectSlots;
  /** The default for drawings that do not set it. */
  execution: Execution;
  temporal: Client;
  logger: Logger;
  metrics: WorkerMetrics;
  /** Identifies this process in the claims of nodes. */
  workerId: string;
  /** The pool of this worker. */
  pool: string;
  /** Null for an unversioned worker. */
  buildId: string | null;
  runTimeoutDays: number;
}

export function createActivities(deps: ActivityDeps): Activities & ScheduleActivities {
  const { db, secretBox, contexts, memory, logger, metrics, providers } = deps;
  const { workerId } = deps;
  const [writes, isolation] = [createSharedWrites(db), new Isolation()];
  const node: NodeDeps = { db, writes, secretBox, contexts, memory, logger, metrics, workerId, isolation };
  const sessions = createMcpSessions(deps.mcp);
  const connections = createConnectionUse(db, deps.connections);
  const files = createFileUse(db, deps.files);
  const texts = createDocumentTexts(deps.documents);
  const clients = createModelClients(db, secretBox, metrics);
  const live = createLiveTexts({ db, memory, logger });
  const forms = createFormChecker(deps.processes);
  const waits = { db, secretBox, contexts, callbacks: deps.callbacks };
  const children = { ...waits, snapshots: createSnapshotStore(db), runTimeoutDays: deps.runTimeoutDays };
  const client = deps.outgoing;
  const agent: AgentDeps = {
    ...children,
    providers,
    clients,
    client,
    live,
    forms,
    sessions,
    builder: createBuilderServer(createMcpSessions(deps.ownMcp), deps),
    connections,
    node,
    files,
    texts,
  };
  const judge = createJudge(deps.processes);
  const loops = { db, writes, secretBox, contexts, judge };
  const trace = createActivityTracer(contexts);
  const pools = createPoolNodes(deps);
  /** Attempts a step of a loop, or of a node that waits. */
  const attempt = <Facts>(name: string, ref: NodeKey, step: NodeStep<Facts>): Promise<Facts> =>
    trace(name, ref, () => attemptNode(node, ref, step));
  const finish = (run: FinishRunInput) => trace('finishRun', run, () => finishRun(deps, run));
  const endIteration = (ref: EndIterationRef) => attempt('endIteration', ref, createEndIterationStep(loops, ref));

  const runners: Runners = {
    ...createInlineRunners(contexts, judge),
    trigger: triggerRunner,
    http: createHttpRunner({ db, contexts, client, connections, files, logger }),
    llm: createLlmRunner({ contexts, providers, clients, live, forms, node, files, texts }),
    mcp: createMcpRunner({ db, contexts, sessions, connections, files, logger }),
    code: createCodeRunner({ contexts, sandbox: deps.sandbox, logger, files, texts }),
  };
  const walking: WalkDeps = {
    node,
    runners,
    slots: deps.slots,
    trace,
    pools,
    finishRun: (runId) => finish({ runId, status: 'succeed' }),
    endIteration,
  };
  const agentTurn = async (ref: TurnRef & WalkRef): Promise<TurnFacts> => {
    const step = createTurnStep(agent, ref);
    let open: OpenTurn;
    const final = await walk(walking, ref, async (key, options) => {
      open = await trace('agentTurn', key, () => attemptNode(node, key, step, options)).catch((error: unknown) => {
        return { approvals: [], waitMs: 0, wait: waitIn(error) };
      });
      return open === undefined ? {} : undefined;
    });
    if (final.isElsewhere === true) return { approvals: [], waitMs: 0, isElsewhere: true };
    return open === undefined ? { final, approvals: [], waitMs: 0 } : open;
  };
  const isTakenHere = async ({ runId, path, nodeId }: NodeKey): Promise<boolean> => {
    const { projectId, planOf } = await contexts.load(runId);
    const { ids, pools: named } = planOf(path);
    const { attempt: number } = activityInfo();
    return pools.take({
      runId,
      path,
      projectId,
      nodeIds: [nodeId],
      named: named?.[ids.indexOf(nodeId)],
      attempt: number,
    });
  };
  const activities = Object.keys(runners).map((kind) => [
    kinds[kind as keyof Runners].activity,
    (ref: WalkRef) => walk(walking, ref),
  ]);
  return {
    ...(Object.fromEntries(activities) as NodeActivities),
    agentTurn,
    enterPool: (ref) =>
      trace('enterPool', ref, async () => {
        // The run has started, although its first node may wait for a worker.
        await contexts.start(ref.runId);
        return pools.enter(ref);
      }),
    agentTools: (ref) =>
      trace('agentTools', ref, () =>
        withHeartbeat(ref.runId, async () => {
          if (!(await isTakenHere(ref))) return { runs: [], untilMs: 0, isElsewhere: true as const };
          return attemptNode(node, ref, createToolsStep(agent, ref));
        }).catch((error: unknown) => {
          return { runs: [], untilMs: 0, wait: waitIn(error) };
        }),
      ),
    async finishRun(run) {
      // A run that has executed no node, for example because it has only a trigger, has not been started yet.
      if (run.status === 'succeed') {
        await contexts.start(run.runId).catch(async (error: unknown) => {
          // The workflow closes after this failure, so the end of the run is recorded first.
          if (isFinal(error))
            await finish({ ...run, status: 'failed', error: { code: error.type ?? 'internal_error' } });
          throw error;
        });
      }
      await finish(run);
    },
    forEach: (ref) => attempt('forEach', ref, createForEachStep(loops)),
    loop: (ref) => attempt('loop', ref, createLoopStep(loops)),
    endIteration,
    endLoop: (ref) => attempt('endLoop', ref, createEndLoopStep(loops, ref)),
    wait: (ref) => attempt('wait', ref, createStartWaitStep(waits)),
    humanTask: (ref) => attempt('humanTask', ref, createAskStep(waits)),
    endWait: (ref) => attempt('endWait', ref, createEndWaitStep(waits, ref)),
    subWorkflow: (ref) => attempt('subWorkflow', ref, createStartChildStep(children)),
    loadPlan: ({ runId }) => loadPlan(db, runId, deps.execution),
    loadKept: ({ runId }) => loadReused(db, runId),
    takeGiven: (ref) =>
      walk(walking, ref, async (key) => {
        const fixed = await findFixedResult(db, secretBox, key);
        if (fixed === undefined) throw finalFailure('internal_error');
        return trace('takeGiven', key, () => recordFixedResult(node, key, fixed));
      }),
    settleWalk: (ref) => trace('settleWalk', ref, () => settleWalk({ db, contexts }, ref)),
    ...createScheduleActivities({ ...children, memory }),
  };
}

/** Returns the wait after which a step of an agent continues. Throws every other error. */
function waitIn(error: unknown): WaitFacts {
  if (error instanceof NodeWaits) return error.facts;
  throw error;
}

function createInlineRunners(contexts: RunContexts, judge: JudgeFor): Record<EvaluatedKind, NodeRunner> {
  const evaluated = kindsThatRun('inline').filter((kind) => kind !== 'trigger');
  const runners = evaluated.map((kind) => [kind, createInlineRunner(kind, { contexts, judge })]);
  return Object.fromEntries(runners) as Record<EvaluatedKind, NodeRunner>;
}
