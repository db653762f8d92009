// Accepts a test run. One transaction stores the run with its fixed and its reused results.
import { openDrawing, openSecrets, sealSecrets } from '../../acceptance/opened-drawing.js';
import { prepareRun } from '../../acceptance/prepare-run.js';
import { START_GRACE_SECONDS, storeRun } from '../../acceptance/store-run.js';
import type { Logger } from '../../telemetry/logger.js';
import { holdAssistantRun } from '../../db/agents/assistant-token.js';
import type { Db } from '../../db/core/client.js';
import { addReferences } from '../../db/files/references-repository.js';
import { isQuotaExceeded } from '../../db/projects/stored-bytes-repository.js';
import { findEarlierRun, copyReused, type ReusedSource } from '../../db/resume/resume-repository.js';
import { insertAcceptedRun } from '../../db/runs/runs-repository.js';
import { insertTestRun } from '../../db/test-runs/test-runs-repository.js';
import type { StoredDrawing } from '../../db/workflows/workflows-repository.js';
import { compilePlan } from '../../graph/compile-plan.js';
import type { SplitDrawing } from '../../graph/drawing-change.js';
import { splitSecrets } from '../../graph/secrets.js';
import { fileIdsIn } from '../../graph/file-values.js';
import type { RunInput } from '../../graph/input.js';
import type { JsonObject } from '../../graph/json.js';
import { parseJson } from '../../graph/json-text.js';
import { traitsOf } from '../../graph/kinds.js';
import type { TestDeps } from './deps.js';
import { ApiError, quotaExceeded } from '../http/errors.js';
import { acceptOnce, startWithoutWaiting, storeOnce, type Acceptance } from '../runs/accept-run.js';
import type { KeyedRequest } from '../runs/idempotency.js';
import { toReRunRequest } from '../runs/re-run.js';
import { secretsThen, secretsToPass } from '../runs/resume/drawings.js';
import { hold } from '../runs/resume/resume-run.js';
import { resolveActions } from '../services/resolve-actions.js';
import { acceptedEnvelope, invalidNodesEnvelope } from '../envelope/run-envelope.js';
import { traceOfAcceptance } from '../runs/run-traces.js';
import { invalidStructure, judgeNodes, ofNodes, refuseNodes } from './invalid-drawing.js';
import { planTest, type PlannedTest, type TestToPlan } from './plan-test.js';

export interface TestRequest extends Omit<TestToPlan, 'workflow' | 'hasInput'> {
  workflow: StoredDrawing;
  userId: number;
  /** The tested drawing, from the request body or stored with a case run; undefined for the workflow's own. */
  drawing: JsonObject | undefined;
  /**
   * True if `drawing` was stored with its secrets and the facts of its actions. It is then executed with these facts,
   * because its secrets must only be sent to the servers for which they were stored.
   */
  isResolved?: boolean;
  /** The draft whose values `********` in that drawing stands for. */
  draft?: SplitDrawing | undefined;
  /**
   * The version of `drawing`; null or absent if `drawing` is not stored as a version. Absent without `drawing`: the run
   * then has the version of the workflow.
   */
  version?: number | null;
  input: RunInput | undefined;
  /** Secrets that the input may contain although the drawing does not name them. */
  passedSecrets?: readonly string[] | undefined;
  skipsWaits: boolean;
  /** The most that the run and those below it may cost, in USD; absent without a limit. */
  maxCostUsd?: string | null | undefined;
  /** The run of the assistant in the editor that asks for the test; the test is cancelled together with that run. */
  askedBy?: string | undefined;
  /**
   * Set for a case, which waits for nobody. The run is stored only if `claim` returns true in the accepting
   * transaction.
   */
  claim?: (transaction: Db, runId: string) => Promise<boolean>;
  keyed: KeyedRequest | undefined;
}

export class ResultsMissing extends Error {
  override name = 'ResultsMissing';
  readonly nodeIds: string[];

  constructor(nodeIds: string[]) {
    super('results are missing');
    this.nodeIds = nodeIds;
  }
}

/** The case already has a run, or has ended: another process was faster. */
export class CaseUsed extends Error {
  override name = 'CaseUsed';
}

export interface OpenedTest {
  /** The workflow with the tested drawing, its secrets sealed. */
  workflow: StoredDrawing;
  planned: PlannedTest;
  /** The drawing with its secrets. */
  drawing: JsonObject;
}

/**
 * Throws 400 for a drawing that cannot run, for executed nodes of `request.drawing` that are invalid, for a node or an
 * iteration that cannot be tested, and for wrong mocks.
 */
export async function openTest(
  deps: TestDeps,
  request: Omit<TestRequest, 'userId' | 'keyed' | 'skipsWaits'>,
): Promise<OpenedTest> {
  const { workflow: stored, drawing: given, draft, isResolved = false } = request;
  const workflow =
    given === undefined
      ? stored
      : isResolved
        ? seal(deps, stored, given)
        : await withDrawing(deps, stored, given, draft);
  const { drawing, secrets } = openDrawing(deps.secretBox, workflow);
  const compiled = compilePlan(drawing);
  if (!compiled.ok) throw invalidStructure(compiled.errors);
  const { document, plan } = compiled;
  const drawn = { drawing, document, plan };
  const planned = await planTest(deps, drawn, { ...request, hasInput: request.input !== undefined });
  const { executed } = planned;
  if (given !== undefined) {
    await judgeNodes(deps, { projectId: workflow.project_id, secrets, executed, ...drawn });
  }
  return { workflow, planned, drawing };
}

/**
 * Throws the errors of `openTest`, `ResultsMissing`, `CaseUsed` if `claim` returns false, and 400 if the assistant's
 * run that asks for the test has ended or is being stopped.
 */
export function startTest(deps: TestDeps, log: Logger, request: TestRequest): Promise<Acceptance> {
  return acceptOnce(deps, request.keyed, async () => {
    const opened = await openTest(deps, request);
    const { workflow, planned } = opened;
    if (planned.missing.length > 0) throw new ResultsMissing(planned.missing);
    const prepared = await prepareTest(deps, request, opened);
    if (!prepared.ok) throw invalidStructure(prepared.errors);
    const { nodeErrors, ...run } = prepared.run;
    const { startNode } = run.document;
    // `openTest` has validated `request.drawing` except for its files and pools. An error of the start node counts as
    // an error of the input.
    const others = new Set([...planned.executed].filter((nodeId) => nodeId !== startNode));
    if (request.drawing !== undefined) refuseNodes(ofNodes(nodeErrors, others));
    const judged = request.input === undefined ? planned.executed : others.add(startNode);
    const wrong = ofNodes(nodeErrors, judged);
    if (Object.keys(wrong).length > 0) return invalidNodesEnvelope(null, wrong);
    const { id } = run.facts;
    const graph = { document: workflow.document, plan: planned.plan, isTest: true };
    const isStored = await storeRun(deps.snapshots, graph, (snapshotHash) => {
      const facts = {
        ...run.facts,
        ...traceOfAcceptance(id),
        purpose: 'test' as const,
        is_plain: false,
        workflow_version:
          request.version === undefined ? (request.drawing === undefined ? workflow.version : null) : request.version,
        snapshot_hash: snapshotHash,
      };
      const insert = (transaction: Db) => insertAll(deps, transaction, request, { facts, planned });
      return storeOnce(deps, request.keyed, id, (db) =>
        db.isTransaction ? insert(db) : deps.db.transaction().execute(insert),
      );
    }).catch((error: unknown) => {
      throw isQuotaExceeded(error) ? quotaExceeded() : error;
    });
    if (!isStored) return undefined;
    await startWithoutWaiting(deps, log, workflow, {
      ...run,
      plan: planned.plan,
      facts: { ...run.facts, purpose: 'test' },
    });
    return acceptedEnvelope(id);
  });
}

/** `********` in the drawing stands for the value in `draft` or the stored one at the same place. */
export async function withDrawing(
  { db, secretBox }: Pick<TestDeps, 'db' | 'secretBox'>,
  workflow: StoredDrawing,
  drawing: JsonObject,
  draft: SplitDrawing | undefined,
): Promise<StoredDrawing> {
  const earlier = [draft?.data, workflow.document];
  return seal({ secretBox }, workflow, await resolveActions(db, workflow.project_id, drawing, earlier), draft);
}

function seal(
  { secretBox }: Pick<TestDeps, 'secretBox'>,
  workflow: StoredDrawing,
  resolved: JsonObject,
  draft?: SplitDrawing,
): StoredDrawing {
  const stored = { data: workflow.document, secrets: openSecrets(secretBox, workflow) };
  const { masked, secrets } = splitSecrets(resolved, stored, draft);
  const sealed = sealSecrets(secretBox, secrets, 'workflow-secrets', workflow.project_id, workflow.id);
  return { ...workflow, document: masked, secrets_enc: sealed };
}

export async function inputOfTest(
  deps: TestDeps,
  request: Pick<TestRequest, 'userId' | 'input' | 'passedSecrets'>,
  opened: OpenedTest,
): Promise<RunInput> {
  const prepared = await prepareTest(deps, request, opened);
  if (!prepared.ok) return {};
  const { id, project_id: projectId, input, input_enc: sealed } = prepared.run.facts;
  return parseJson(
    sealed === null || sealed === undefined ? input : deps.secretBox.open(sealed, 'run-input', projectId, id),
  ) as RunInput;
}

async function prepareTest(
  deps: TestDeps,
  { userId, input, passedSecrets = [] }: Pick<TestRequest, 'userId' | 'input' | 'passedSecrets'>,
  { workflow, planned }: OpenedTest,
) {
  const start = planned.sources.find(({ path, nodeId }) => path === '' && nodeId === planned.plan.ids[0]);
  const given = input ?? planned.input;
  const isGiven = given !== undefined || start === undefined || planned.plan.kinds[0] !== 'trigger';
  const request: Awaited<ReturnType<typeof toReRunRequest>> = isGiven
    ? { input: given ?? {} }
    : await toReRunRequest(deps, { workflow, originalRunId: start.runId, input: undefined, mayBeTest: true });
  const ofRuns: string[] = [];
  for (const runId of runsOf(planned)) {
    const earlier = await findEarlierRun(deps.db, runId, deps.config.resultRetentionDays);
    if (earlier !== undefined) ofRuns.push(...secretsThen(deps.secretBox, workflow, earlier, request.input));
  }
  const kept = [...planned.secretsThen, ...passedSecrets];
  const others = secretsToPass(deps.secretBox, workflow, request.input, kept);
  const passed = [...(request.passedSecrets ?? []), ...ofRuns, ...others];
  return prepareRun(deps, { ...request, workflow, userId, passedSecrets: passed });
}

interface TestToInsert {
  facts: Parameters<typeof insertAcceptedRun>[1];
  planned: PlannedTest;
}

async function insertAll(
  deps: TestDeps,
  transaction: Db,
  { mode, nodeId, skipsWaits, maxCostUsd = null, claim, askedBy }: TestRequest,
  { facts, planned }: TestToInsert,
): Promise<void> {
  const { secretBox } = deps;
  const { plan, fixedResults, sources, loops } = planned;
  if (askedBy !== undefined && !(await holdAssistantRun(transaction, askedBy)))
    throw new ApiError(400, 'run_finished', 'The answer that asks for this test has ended or is being stopped.');
  for (const runId of runsOf(planned).toSorted()) await hold(deps, transaction, runId);
  await insertAcceptedRun(transaction, facts, START_GRACE_SECONDS);
  if (claim !== undefined && !(await claim(transaction, facts.id))) throw new CaseUsed();
  const test = {
    mode: claim === undefined ? mode : ('case' as const),
    node_id: nodeId,
    skips_waits: skipsWaits,
    max_cost_usd: maxCostUsd,
  };
  await insertTestRun(transaction, secretBox, { runId: facts.id, facts: test, given: fixedResults, askedBy });
  await addReferences(transaction, facts.project_id, { kind: 'run', id: facts.id }, fileIdsIn(fixedResults));
  const isLoop = new Set(plan.ids.filter((_, number) => traitsOf(plan.kinds[number]!).runs === 'body'));
  const hasRounds = new Set(plan.ids.filter((_, number) => plan.kinds[number] === 'loop'));
  const reused = runsOf(planned).map((from): ReusedSource => {
    const nodes = sources.filter(({ runId }) => runId === from).map(({ path, nodeId: id }) => ({ path, nodeId: id }));
    const around = loops.filter(({ runId }) => runId === from);
    // Nodes of a round may read the output of the round before.
    const before = around
      .filter(({ index, nodeId: id }) => index > 0 && hasRounds.has(id))
      .map(({ index, ...loop }) => ({ ...loop, indexes: [index - 1] }));
    const whole = nodes.filter(({ nodeId: id }) => isLoop.has(id));
    return { from, reused: { nodes, loops: whole, iterations: before }, itemsOf: around };
  });
  await copyReused(transaction, secretBox, {
    to: facts.id,
    projectId: facts.project_id,
    sources: reused,
    storesSource: true,
  });
}

/** Returns the runs whose results or items are reused. */
function runsOf({ sources, loops }: PlannedTest): string[] {
  return [...new Set([...sources, ...loops].map(({ runId }) => runId))];
}
