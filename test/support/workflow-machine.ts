// Executes a workflow of the bundle, by default the run workflow, without a server: the test plays the server. The
// bundle runs in the SDK's own runtime, in a context like that of workers, so commands, payloads, cancellation and
// continue-as-new are the real ones. One step takes less than a tenth of a millisecond.
import vm from 'node:vm';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { coresdk } from '@temporalio/proto';
import { injectGlobals } from '@temporalio/worker/lib/workflow/vm-shared.js';
import { RUN_WORKFLOW_TYPE } from '../../contract/run-workflow.js';

export type Command = coresdk.workflow_commands.IWorkflowCommand;
type InitializeWorkflow = coresdk.workflow_activation.IInitializeWorkflow;
type ActivityResult = coresdk.activity_result.IActivityResolution;

export interface Job {
  variant: 'resolveActivity' | 'fireTimer' | 'cancelWorkflow' | 'initializeWorkflow';
  resolveActivity?: { seq: number; isLocal: boolean; result: ActivityResult };
  fireTimer?: { seq: number };
  cancelWorkflow?: { reason: string };
  initializeWorkflow?: InitializeWorkflow;
}

interface Activator {
  now: number;
  getAndResetSinkCalls: () => { fnName: string; args: unknown[] }[];
  mutateWorkflowInfo: (change: (info: object) => object) => void;
}

const IDS = {
  workflowId: 'run',
  runId: 'execution',
  firstExecutionRunId: 'execution',
  originalExecutionRunId: 'execution',
};
const STARTED = new Date('2026-01-15T12:00:00Z');

const INFO = {
  ...IDS,
  searchAttributes: {},
  typedSearchAttributes: {},
  historyLength: 3,
  historySize: 100,
  continueAsNewSuggested: false,
  taskQueue: 'none',
  namespace: 'none',
  startTime: STARTED,
  runStartTime: STARTED,
  taskTimeoutMs: 10_000,
  attempt: 1,
  unsafe: { isReplaying: false, isReplayingHistoryEvents: false },
};

export class WorkflowMachine {
  readonly #context: vm.Context;
  readonly #call = new vm.Script('__TEMPORAL__.api[__call.name](...__call.args)');
  #now = STARTED.getTime();

  readonly #workflowType: string;

  /** `code`: a bundle, such as that in dist/. */
  constructor(code: string, workflowType = RUN_WORKFLOW_TYPE) {
    this.#workflowType = workflowType;
    this.#context = vm.createContext({}, { microtaskMode: 'afterEvaluate' });
    injectGlobals(this.#context);
    this.#context['__webpack_module_cache__'] = {};
    new vm.Script(code, { filename: 'workflow-bundle.js' }).runInContext(this.#context);
  }

  /** Starts an execution with these arguments in place of the last one. Returns its first commands. */
  start(args: Payload[]): Command[] {
    if (this.#activator !== undefined) this.#run('dispose');
    this.#run('initRuntime', {
      info: { ...INFO, workflowType: this.#workflowType },
      randomnessSeed: [1, 2, 3],
      now: this.#now,
      showStackTraceSources: false,
      sourceMap: {},
      getTimeOfDay: () => 0n,
      registeredActivityNames: { has: () => true },
      stackTracesEnabled: false,
    });
    const initializeWorkflow = {
      workflowType: this.#workflowType,
      workflowId: IDS.workflowId,
      arguments: args,
      headers: {},
    };
    this.#run('initialize', initializeWorkflow);
    return this.step([{ variant: 'initializeWorkflow', initializeWorkflow }]);
  }

  /**
   * Delivers the jobs, and returns the resulting commands. Throws the errors of the workflow's code. A sink tells
   * workers which local activities to cancel; these cancellations are returned as commands.
   */
  step(jobs: Job[]): Command[] {
    this.#activator!.now = this.#now += 10;
    this.#run('activate', { jobs });
    while (Number(this.#run('tryUnblockConditions')) > 0);
    const completion = this.#run('concludeActivation') as coresdk.workflow_completion.IWorkflowActivationCompletion;
    const cancels = this.#activator!.getAndResetSinkCalls().filter(({ fnName }) => fnName === 'cancel');
    return [
      ...(completion.successful?.commands ?? []),
      ...cancels.map(({ args: [id] }) => ({ requestCancelLocalActivity: { seq: Number(id) } })),
    ];
  }

  /** Sets the server's suggestion to continue as new because the history is long. */
  suggestContinueAsNew(continueAsNewSuggested: boolean): void {
    this.#activator!.mutateWorkflowInfo((info) => ({ ...info, continueAsNewSuggested }));
  }

  get #activator(): Activator | undefined {
    return this.#context['__TEMPORAL_ACTIVATOR__'] as Activator | undefined;
  }

  /** When this returns, no microtask of the workflow is left. */
  #run(name: string, ...args: unknown[]): unknown {
    this.#context['__call'] = { name, args };
    return this.#call.runInContext(this.#context);
  }
}

export function toPayload(value: unknown): Payload {
  return defaultPayloadConverter.toPayload(value);
}

export function fromPayload(payload: Payload): unknown {
  return defaultPayloadConverter.fromPayload(payload);
}
