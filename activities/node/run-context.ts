// The context of a run: everything that its nodes need to know about it. Each worker caches the contexts of the runs
// that it executes. Only the list of secrets may grow while a run lasts: the runs that it starts, and people, may pass
// it more.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { nodeOfRun } from '../../contract/node-names.js';
import { findPassedSecrets, openPassedSecrets } from '../../db/runs/passed-secrets.js';
import { findRunContext, findSnapshot, type StoredSnapshot } from '../../db/runs/run-context-repository.js';
import { openRunContents, readGraph, type RunGraph, type RunNode } from '../../db/runs/run-contents.js';
import type { RunInput } from '../../graph/input.js';
import { createMasker, type Masker } from '../../graph/mask.js';
import { joinSecrets, type SecretMap } from '../../graph/secrets.js';
import { findTestRun, type TestFacts } from '../../db/test-runs/test-runs-repository.js';
import type { VariableValues } from '../../graph/template.js';
import { workflowToolsOf } from '../../graph/nodes/agent.js';
import { asksForSecrets } from '../../graph/nodes/human.js';
import { nodeDefinitions } from '../../graph/nodes/registry.js';
import { bodyPlan, rootPlan, type NodeKey, type Plan, type ScopePlan } from '../../graph/plan.js';
import { innermostLoop } from '../../graph/iteration-path.js';
import type { CallbackUrls } from './callback-urls.js';
import { runClosedFailure } from './failures.js';
import { recordStart, type StartDeps } from './start-run.js';
import { createValuesLoader, type ValuesTask } from './load-values.js';
import { PARSED_FACTOR, structureBytes } from './payload-weight.js';

export interface RunContext {
  runId: string;
  projectId: number;
  userId: number;
  input: RunInput;
  /** The input with every secret field replaced by `********`, even if its value is short. */
  publicInput: RunInput;
  /** The approximate memory of the input, in bytes, unmasked and masked. */
  weightBytes: number;
  /** The trace context of the request, node or firing that started the run; null without a trace. */
  traceparent: string | null;
  /** The number of ancestor runs. */
  depth: number;
  /** The topmost ancestor run. The run's own id if it has none. */
  rootRunId: string;
  /** True if the run may reuse results: it resumes an earlier run, or is a test run. */
  isResumed: boolean;
  /** True if the run is a test run, or was started by one. */
  isTest: boolean;
  /** The settings of the test run, which is the root run; undefined unless `isTest`. */
  test: TestFacts | undefined;
  /** True if the run answers for the assistant in the editor, and has its tools. */
  isAssistant: boolean;
  secretTexts: readonly string[];
  /** Masks the secrets of this run, except very short ones, in text that is stored or shown. */
  masker: Masker;
  /** Returns undefined for an id that the run does not have. */
  node(nodeId: string): RunNode | undefined;
  /** Returns the plan of the scope with this path: the run outside loops, or the body of the innermost loop. */
  planOf: (path: string) => ScopePlan;
}

/** Has no masker: that of a cached context lacks the secrets that the run has received since the context was loaded. */
export type StartedRun = Omit<RunContext, 'masker' | 'secretTexts'>;

export type { RunNode } from '../../db/runs/run-contents.js';

export interface RunContexts {
  /** Caches a node's recorded output (unmasked JSON text), so that later nodes need not read it from the database. */
  remember(node: NodeKey, output: string): void;
  /** Caches the stored items of a loop (unmasked JSON texts) in the same way. */
  rememberItems(loop: NodeKey, items: string[]): void;
  /** Throws a non-retryable failure if the run does not exist, and `MissingKeyError` if the key of a secret is gone. */
  load(runId: string): Promise<RunContext>;
  /**
   * Records the start of the run if no worker has (`recordStart`). Call this before the run executes anything. Throws
   * like `load` and `recordStart`.
   */
  start(runId: string): Promise<StartedRun>;
  loadValues(task: ValuesTask, templates: unknown): Promise<VariableValues>;
}

interface CachedRun {
  context: RunContext;
  weightBytes: number;
  /** True if the run may receive secrets while it lasts, from runs that its nodes or tools start and from people. */
  getsSecrets: boolean;
  isStarted: boolean;
  plan: Plan;
  /** Set while the start of the run is being recorded. */
  starting?: Promise<void>;
}

/** The part that all runs of the same drawing share. */
interface Graph extends RunGraph {
  weightBytes: number;
  plan: Plan;
  planOf: (path: string) => ScopePlan;
}

// `max` bounds the number of small runs, `maxSize` the weight of large ones. A run that is too heavy for the cache
// is loaded again for each node.
const RUN_CACHE = { max: 500, maxSize: 96 * 1024 * 1024 };
/** Maskers are cached for this many runs that have received secrets. */
const MAX_PASSED_MASKERS = 50;
/** Bytes of memory per byte of a drawing, which consists mostly of small objects. */
const SNAPSHOT_FACTOR = 8;
const SNAPSHOT_CACHE = { max: 100, maxSize: 96 * 1024 * 1024 };
/**
 * Sizes in characters. An output larger than `maxEntrySize` is read from the database when it is needed. `max` also
 * removes the outputs of ended runs, which would otherwise stay until newer ones fill `maxSize`.
 */
const OUTPUT_CACHE = { max: 10_000, maxSize: 16 * 1024 * 1024, maxEntrySize: 32 * 1024 };

/**
 * Sizes in characters. `max` is the largest number of items of one loop. Items that do not fit are read from the
 * database.
 */
const ITEM_CACHE = { max: 10_000, maxSize: 8 * 1024 * 1024, maxEntrySize: 32 * 1024 };

export function createRunContexts(deps: StartDeps & { callbacks: CallbackUrls }): RunContexts {
  const { db, secretBox, callbacks } = deps;
  const snapshots = new LRUCache<string, Promise<Graph>>(SNAPSHOT_CACHE);
  const runs = new LRUCache<string, Promise<CachedRun>>(RUN_CACHE);
  const maskers = new LRUCache<string, Pick<RunContext, 'masker' | 'secretTexts'>>({ max: MAX_PASSED_MASKERS });
  const sizeCalculation = (text: string): number => text.length + 1;
  const outputs = new LRUCache<string, string>({ ...OUTPUT_CACHE, sizeCalculation });
  const items = new LRUCache<string, string>({ ...ITEM_CACHE, sizeCalculation });

  function loadGraph(hash: Buffer): Promise<Graph> {
    return cached(snapshots, hash.toString('hex'), async () => toGraph(await findSnapshot(db, hash)));
  }

  async function loadRun(runId: string): Promise<CachedRun> {
    const stored = await findRunContext(db, runId);
    if (stored === undefined) throw runClosedFailure();
    const graph = await loadGraph(stored.snapshotHash);
    const { nodes, plan, planOf } = graph;
    const { input, inputText, publicInput, secrets, ...masking } = openRunContents(stored, graph, secretBox);
    // The input is held twice: unmasked and masked.
    const weightBytes = 2 * (PARSED_FACTOR * inputText.length + structureBytes(inputText));
    const context: RunContext = {
      runId,
      projectId: stored.projectId,
      userId: stored.userId,
      traceparent: stored.traceparent,
      input,
      publicInput,
      weightBytes,
      ...masking,
      depth: stored.depth,
      rootRunId: stored.rootRunId,
      isResumed: stored.isResumed,
      isTest: stored.isTest,
      isAssistant: stored.isAssistant,
      test: stored.isTest ? await findTestRun(db, stored.rootRunId) : undefined,
      node: (nodeId) => withSecrets(nodes.get(nodeId), secrets),
      planOf,
    };
    const getsSecrets = [...nodes.values()].some(mayGetSecrets);
    return { context, weightBytes, getsSecrets, isStarted: stored.isStarted, plan };
  }

  /** Adds the secrets that the run has received so far. */
  async function withPassed({ context, getsSecrets }: CachedRun): Promise<RunContext> {
    const { runId, projectId } = context;
    const sealed = getsSecrets ? await findPassedSecrets(db, runId) : null;
    if (sealed === null) return context;
    const key = `${runId}/${createHash('sha256').update(sealed).digest('base64url')}`;
    let masking = maskers.get(key);
    if (masking === undefined) {
      const secretTexts = [
        ...new Set([...context.secretTexts, ...openPassedSecrets(secretBox, sealed, [projectId, runId])]),
      ];
      maskers.set(key, (masking = { secretTexts, masker: createMasker(secretTexts) }));
    }
    return { ...context, ...masking };
  }

  async function start(run: CachedRun): Promise<void> {
    const output = await recordStart(deps, run.context, run.plan);
    const trigger = { runId: run.context.runId, path: '', nodeId: run.plan.ids[0]! };
    if (output !== undefined) outputs.set(keyOf(trigger), output);
    run.isStarted = true;
  }

  return {
    remember: (node, output) => void outputs.set(keyOf(node), output),
    rememberItems(loop, texts) {
      for (const [index, text] of texts.entries()) items.set(keyOf(loop, index), text);
    },
    load: async (runId) => withPassed(await cached(runs, runId, () => loadRun(runId))),
    async start(runId) {
      const run = await cached(runs, runId, () => loadRun(runId));
      if (!run.isStarted) await (run.starting ??= start(run).finally(() => delete run.starting));
      return run.context;
    },
    loadValues: createValuesLoader({
      db,
      secretBox,
      callbacks,
      rememberedOutput: (node) => outputs.get(keyOf(node)),
      rememberedItem: (loop, index) => items.get(keyOf(loop, index)),
    }),
  };
}

function mayGetSecrets({ kind, data }: RunNode): boolean {
  if (kind === 'human') return asksForSecrets(data);
  return kind === 'workflow' || (kind === 'agent' && workflowToolsOf(data).length > 0);
}

function keyOf(node: NodeKey, index?: number): string {
  return index === undefined ? nodeOfRun(node) : `${nodeOfRun(node)}~${index}`;
}

/** The cached graph is masked and shared by many runs, so each run fills in its own secrets. */
function withSecrets(node: RunNode | undefined, secrets: SecretMap): RunNode | undefined {
  if (node === undefined || Object.keys(secrets).length === 0) return node;
  const { id, kind, data } = node;
  const drawing = joinSecrets({ nodes: [{ id, type: nodeDefinitions[kind].type, data }] }, secrets);
  return { ...node, data: (drawing['nodes'] as RunNode[])[0]!.data };
}

/**
 * Concurrent callers share one load. A failed load is not cached. What is too heavy for the cache is shared only while
 * it loads.
 */
async function cached<T extends { weightBytes: number }>(
  cache: LRUCache<string, Promise<T>>,
  key: string,
  load: () => Promise<T>,
): Promise<T> {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const loading = load();
  cache.set(key, loading, { size: 1 });
  const weighed = async (): Promise<void> => {
    try {
      const { weightBytes } = await loading;
      if (cache.peek(key) === loading) cache.set(key, loading, { size: Math.max(1, weightBytes) });
    } catch {
      cache.delete(key);
    }
  };
  void weighed();
  return loading;
}

function toGraph(snapshot: StoredSnapshot): Graph {
  const { plan } = snapshot;
  const root = rootPlan(plan);
  const bodies = new Map<string, ScopePlan>();
  const bodyOf = (loopId: string): ScopePlan => {
    const body = bodies.get(loopId) ?? bodyPlan(plan, plan.ids.indexOf(loopId));
    bodies.set(loopId, body);
    return body;
  };
  return {
    ...readGraph(snapshot),
    plan,
    planOf: (path) => (path === '' ? root : bodyOf(innermostLoop(path).nodeId)),
    weightBytes: SNAPSHOT_FACTOR * snapshot.sizeBytes,
  };
}
