// The registry of activities. Their names are for the operators who see them in the Temporal UI.
import type { Client } from '@temporalio/client';
import type {
  Activities,
  EndIterationRef,
  FinishRunInput,
  NodeActivities,
  NodeFacts,
  TurnFacts,
  TurnRef,
  WaitFacts,
  Walked,
  WalkRef,
} from '../../contract/activities.js';
import type { ScheduleActivities } from '../../contract/scheduled-run.js';
import { createSnapshotStore } from '../../acceptance/store-run.js';
import type { Logger } from '../../telemetry/logger.js';
import type { ModelProviders } from '../../config/model-providers.js';
import type { Connections } from '../../connections/open-connection.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { Files } from '../../files/files.js';
import { kinds, kindsThatRun, type KindThatRuns } from '../../graph/kinds.js';
import type { Execution } from '../../graph/document.js';
import type { EvaluatedKind } from '../../graph/nodes/registry.js';
import type { NodeKey } from '../../graph/plan.js';
import type { ByteBudget } from '../../memory/byte-budget.js';
import type { McpClient } from '../../outgoing/mcp-types.js';
import type { OutgoingClient } from '../../outgoing/outgoing-client.js';
import type { Processes } from '../../processes/processes.js';
import type { AgentDeps } from '../kinds/agent/agent-step.js';
import { createToolsStep } from '../kinds/agent/agent-tools.js';
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
import { createBeginWaitStep } from '../kinds/wait.js';
import { createBeginChildStep } from '../kinds/sub-workflow.js';
import { createLiveTexts } from '../live/live-texts.js';
import { loadKept, loadPlan } from '../node/load-run.js';
import type { CallbackUrls } from '../node/callback-urls.js';
import { finishRun } from '../node/finish-run.js';
import { finalFailure } from '../node/failures.js';
import { Isolation } from '../node/isolation.js';
import type { NodeBeginning, NodeDeps, NodeStep } from '../node/node-step.js';
import type { RunContexts } from '../node/run-context.js';
import { claimAndAttempt, runInline, toStep, withPulse } from '../node/run-node.js';
import { createDocumentTexts } from '../files/document-texts.js';
import { createFileUse } from '../files/file-use.js';
import { createConnectionUse } from '../connections/use-connection.js';
import { settleWalk } from '../node/settle-walk.js';
import { findGiven, takeGiven } from '../node/fixed-result.js';
import { NodeWaits } from '../node/wait-for-connection.js';
import { walk, type ExecuteNode, type WalkDeps } from '../node/walk.js';
import { createScheduleActivities } from '../schedules/schedule-activities.js';
import type { ProjectSlots } from './project-slots.js';
import { createActivityTracer } from '../node/trace-activity.js';
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
  sandbox: Sandbox;
  processes: Processes;
  /** Those with the memory that documents take. */
  documents: Processes;
  providers: ModelProviders;
  /** The memory budget that the nodes of all runs share. */
  memory: ByteBudget;
  /** The slots of the worker, by projects. */
  slots: ProjectSlots;
  /** Runs whose drawing does not say how they are executed are executed in this way. */
  execution: Execution;
  temporal: Client;
  logger: Logger;
  metrics: WorkerMetrics;
  /** Identifies this process in the claims of nodes. */
  workerId: string;
  /** How long a run may last in all. */
  runTimeoutDays: number;
}

type Steps = Record<KindThatRuns<'activity' | 'inline'>, NodeStep<NodeFacts>>;

export function createActivities(deps: ActivityDeps): Activities & ScheduleActivities {
  const { db, secretBox, contexts, memory, logger, metrics, providers } = deps;
  const { workerId } = deps;
  const node: NodeDeps = { db, secretBox, contexts, memory, logger, metrics, workerId, isolation: new Isolation() };
  const sessions = createMcpSessions(deps.mcp);
  const connections = createConnectionUse(db, deps.connections);
  const files = createFileUse(db, deps.files);
  const texts = createDocumentTexts(deps.documents);
  const clients = createModelClients(db, secretBox, metrics);
  const live = createLiveTexts({ db, memory, logger });
  const forms = createFormChecker(deps.processes);
  const waits = { db, secretBox, contexts, callbacks: deps.callbacks };
  const children = { ...waits, snapshots: createSnapshotStore(db), runTimeoutDays: deps.runTimeoutDays };
  const agent: AgentDeps = { ...children, providers, clients, live, forms, sessions, connections, node, files, texts };
  const judge = createJudge(deps.processes);
  const loops = { db, secretBox, contexts, judge };
  const trace = createActivityTracer(contexts);
  const end = (run: FinishRunInput) => trace('finishRun', run, () => finishRun(deps, run));
  const endIteration = (ref: EndIterationRef) =>
    trace('endIteration', ref, () => runInline(node, ref, createEndIterationStep(loops, ref)));

  const steps: Steps = {
    ...toInlineSteps(contexts, judge),
    trigger: toStep(triggerRunner),
    http: toStep(createHttpRunner({ db, contexts, client: deps.outgoing, connections, files })),
    llm: toStep(createLlmRunner({ contexts, providers, clients, live, forms, node, files, texts })),
    mcp: toStep(createMcpRunner({ db, contexts, sessions, connections, files })),
    code: toStep(createCodeRunner({ contexts, sandbox: deps.sandbox, logger, files, texts })),
  };
  const executeKind = async (kind: keyof Steps, key: NodeKey, beginning: NodeBeginning): Promise<NodeFacts> => {
    const { activity, runs } = kinds[kind];
    const given = await findGiven(node, key);
    if (given !== undefined) return trace('takeGiven', key, () => takeGiven(node, key, given));
    const execute = runs === 'inline' ? runInline : claimAndAttempt;
    return trace(activity, key, () => execute(node, key, steps[kind], beginning));
  };
  const walking: WalkDeps = {
    node,
    slots: deps.slots,
    endRun: (runId) => end({ runId, status: 'succeed' }),
    endIteration,
    async execute(key, beginning) {
      const { kind } = (await contexts.load(key.runId)).node(key.nodeId)!;
      return executeKind(kind as keyof Steps, key, beginning);
    },
  };
  const walkFrom = (ref: WalkRef, executeFirst: ExecuteNode): Promise<Walked> =>
    withPulse(ref, (pulse) => walk(walking, ref, executeFirst, pulse));
  const takeTurn = async (ref: TurnRef & WalkRef): Promise<TurnFacts> => {
    const step = createTurnStep(agent, ref);
    let open: OpenTurn;
    const final = await walkFrom(ref, async (key, beginning) => {
      open = await trace('agentTurn', key, () => claimAndAttempt(node, key, step, beginning)).catch(
        (error: unknown) => {
          return { approvals: [], waitMs: 0, wait: waitIn(error) };
        },
      );
      return open === undefined ? {} : undefined;
    });
    return open === undefined ? { final, approvals: [], waitMs: 0 } : open;
  };
  const activities = Object.keys(steps).map((kind) => [
    kinds[kind as keyof Steps].activity,
    (ref: WalkRef) => walkFrom(ref, (key, beginning) => executeKind(kind as keyof Steps, key, beginning)),
  ]);
  return {
    ...(Object.fromEntries(activities) as NodeActivities),
    agentTurn: takeTurn,
    agentTools: (ref) =>
      trace('agentTools', ref, () =>
        withPulse(ref, () => claimAndAttempt(node, ref, createToolsStep(agent, ref))).catch((error: unknown) => {
          return { runs: [], untilMs: 0, wait: waitIn(error) };
        }),
      ),
    async finishRun(run) {
      // A run that has nothing but its trigger has not been taken yet.
      if (run.status === 'succeed') await contexts.take(run.runId);
      await end(run);
    },
    forEach: (ref) => trace('forEach', ref, () => claimAndAttempt(node, ref, createForEachStep(loops))),
    loop: (ref) => trace('loop', ref, () => claimAndAttempt(node, ref, createLoopStep(loops))),
    endIteration,
    endLoop: (ref) => trace('endLoop', ref, () => claimAndAttempt(node, ref, createEndLoopStep(loops, ref))),
    wait: (ref) => trace('wait', ref, () => runInline(node, ref, createBeginWaitStep(waits))),
    humanTask: (ref) => trace('humanTask', ref, () => runInline(node, ref, createAskStep(waits))),
    endWait: (ref) => trace('endWait', ref, () => runInline(node, ref, createEndWaitStep(waits, ref))),
    subWorkflow: (ref) => trace('subWorkflow', ref, () => runInline(node, ref, createBeginChildStep(children))),
    loadPlan: ({ runId }) => loadPlan(db, runId, deps.execution),
    loadKept: ({ runId }) => loadKept(db, runId),
    takeGiven: (ref) =>
      walkFrom(ref, async (key) => {
        const given = await findGiven(node, key);
        if (given === undefined) throw finalFailure('internal_error');
        return trace('takeGiven', key, () => takeGiven(node, key, given));
      }),
    settleWalk: (ref) => trace('settleWalk', ref, () => settleWalk({ db, contexts }, ref)),
    ...createScheduleActivities({ ...children, memory }),
  };
}

/** Returns the wait by which a step of an agent goes on. Throws every other error. */
function waitIn(error: unknown): WaitFacts {
  if (error instanceof NodeWaits) return error.facts;
  throw error;
}

function toInlineSteps(contexts: RunContexts, judge: JudgeFor): Record<EvaluatedKind, NodeStep<NodeFacts>> {
  const evaluated = kindsThatRun('inline').filter((kind) => kind !== 'trigger');
  const steps = evaluated.map((kind) => [kind, toStep(createInlineRunner(kind, { contexts, judge }))]);
  return Object.fromEntries(steps) as Record<EvaluatedKind, NodeStep<NodeFacts>>;
}
