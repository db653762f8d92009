// Plans a test run: the nodes that it executes, and the results that it reuses. Stores nothing. docs/use/test-runs.md,
// "Which nodes are executed".
import { listPins } from '../../db/test-runs/pins-repository.js';
import { EVERYWHERE, type FixedResult } from '../../db/test-runs/test-runs-repository.js';
import type { StoredDrawing } from '../../db/workflows/workflows-repository.js';
import type { Document } from '../../graph/document.js';
import { readFixedOutcome, type FixedOutcome } from '../../graph/fixed-outcome.js';
import type { JsonObject } from '../../graph/json.js';
import { parseJsonOrUndefined } from '../../graph/json-text.js';
import { isObject } from '../../graph/json.js';
import { indexOfPath, iterationPath, scopeOfPath } from '../../graph/iteration-path.js';
import type { NodeKind } from '../../graph/kinds.js';
import { enclosingLoops, handleAfter, rootPlan, type Handle, type Plan } from '../../graph/plan.js';
import { findVariables } from '../../graph/template.js';
import { chooseTest, planOfTest, type TestMode } from '../../graph/test-plan.js';
import { cutText } from '../../graph/cut-text.js';
import type { TestDeps } from './deps.js';
import { ApiError, invalidFields } from '../http/errors.js';
import { fingerprintsOf } from './fingerprints.js';
import { findSources, placeKey, type LoopSource, type Source, type Sources } from './find-sources.js';
import { readMocks } from './read-mocks.js';

export interface TestToPlan {
  workflow: Pick<StoredDrawing, 'id' | 'project_id'>;
  mode: TestMode;
  nodeId: string;
  /** The iteration in which a node of a body is tested; undefined for the first one. */
  path: string | undefined;
  hasInput: boolean;
  mocks: Record<string, unknown>;
  usesPins: boolean;
}

interface Drawn {
  drawing: JsonObject;
  document: Document;
  plan: Plan;
}

export interface PlannedTest {
  plan: Plan;
  fixedResults: FixedResult[];
  sources: Source[];
  /** The loops around the tested node whose items, or rounds, are reused from earlier runs. */
  loops: LoopSource[];
  /** The paths of the scopes that are tested, from the empty path outside bodies to the innermost iteration. */
  paths: string[];
  executed: Set<string>;
  /** Nodes that are read but have no result, and loops around the tested node whose items no earlier run has. */
  missing: string[];
  /** Secrets that the pins may contain although the drawing no longer has them. */
  secretsThen: string[];
  /** The input from a mock or a pin of the trigger; undefined if neither has a JSON object as its content. */
  input: Record<string, unknown> | undefined;
}

/** Throws 400 for a node or an iteration that cannot be tested, and for wrong mocks. */
export async function planTest(
  deps: Pick<TestDeps, 'db' | 'secretBox' | 'config'>,
  { drawing, document, plan }: Drawn,
  { workflow, mode, nodeId, path: asked, hasInput, mocks, usesPins }: TestToPlan,
): Promise<PlannedTest> {
  const numbers = new Map(plan.ids.map((id, number) => [id, number]));
  const node = numbers.get(nodeId);
  if (node === undefined) throw unknownNode(nodeId);
  const place = placeOf(plan, node, asked);
  const fixed = new FixedResults(plan, place, [
    ...(await readMocks(deps.db, workflow.project_id, { mocks, document })),
    ...(usesPins ? await pinsOf(deps, workflow.id, { drawing, document, plan }, { nodeId, path: place.path }) : []),
  ]);
  const data = new Map(document.nodes.map((drawn) => [drawn.id, drawn.data]));
  const readsOf = (number: number): number[] =>
    findVariables(data.get(plan.ids[number]!) ?? {}).flatMap((variable) =>
      variable.source === 'node' || variable.source === 'error' ? (numbers.get(variable.nodeId) ?? []) : [],
    );
  const scopes = chooseTest(plan, { mode, node, isFixed: (number) => fixed.isFixed(number), readsOf });
  const isTrigger = plan.kinds[0] === 'trigger';
  const isStartRun = scopes[0]!.executed.has(0);
  const takesStart = isTrigger && !isStartRun && !hasInput && !fixed.isFixed(0);
  const places = scopes.map(({ wanted }, depth) => ({ wanted: [...wanted], path: place.paths[depth]! }));
  if (takesStart) places[0]!.wanted.push(0);
  const results = places.flatMap(({ wanted, path }) =>
    wanted.filter((number) => !fixed.isFixed(number)).map((number) => ({ path, nodeId: plan.ids[number]! })),
  );
  const loops = mode === 'up_to' ? [] : place.loops.map((loop) => ({ ...loop, nodeId: plan.ids[loop.number]! }));
  const now = { drawing, plan };
  const found =
    mode === 'up_to' ? NO_SOURCES : await findSources(deps, { workflowId: workflow.id, now, results, loops });
  const taken = new Map<number, readonly Handle[]>();
  for (const { wanted, path } of places) {
    for (const number of wanted) {
      const handles = fixed.handlesOf(number) ?? found.results.get(placeKey(path, plan.ids[number]!))?.handles;
      if (handles !== undefined) taken.set(number, handles);
    }
  }
  const only = new Map(place.loops.map(({ number, index }) => [number, index]));
  const test = planOfTest(plan, { mode, scopes, taken, fixed: fixed.places(), only });
  const ids = new Set(test.ids);
  const executed = test.ids.filter((id) => {
    const number = numbers.get(id)!;
    return !taken.has(number) && !fixed.isFixed(number) && (number !== 0 || !isTrigger || isStartRun);
  });
  const needed = scopes.flatMap((scope) => [...scope.needed]).filter((number) => !taken.has(number));
  const lost = loops.filter((loop) => !found.loops.has(loop.nodeId));
  const fixedResults = fixed.list().filter((result) => ids.has(result.nodeId));
  return {
    plan: test,
    fixedResults,
    secretsThen: fixedResults.flatMap((result) => result.secretsThen ?? []),
    sources: [...found.results.values()],
    loops: [...found.loops.values()],
    paths: place.paths,
    executed: new Set(executed),
    missing: [...new Set([...lost.map((loop) => loop.nodeId), ...needed.map((number) => plan.ids[number]!)])],
    input: isTrigger ? inputIn(fixed.everywhere(0)) : undefined,
  };
}

const NO_SOURCES: Sources = { results: new Map(), loops: new Map() };

function unknownNode(nodeId: string): ApiError {
  return new ApiError(400, 'unknown_node', `node: the start of the drawing does not reach "${cutText(nodeId, 200)}".`);
}

interface TriedPlace {
  /** The iteration in which the node is tested; empty outside loops. */
  path: string;
  /** The paths of the scopes, from the drawing outside bodies to that iteration. */
  paths: string[];
  /** The loops around the node, outermost first, each with its own path and iteration. */
  loops: { number: number; path: string; index: number }[];
}

/** `asked`: the path of an iteration of the loops around the node; undefined for the first iterations. */
function placeOf(plan: Plan, node: number, asked: string | undefined): TriedPlace {
  const around = enclosingLoops(plan)[node]!;
  const ids = around.map((loop) => plan.ids[loop]!);
  if (asked !== undefined && scopeOfPath(asked, ids) !== asked) {
    throw invalidFields({ path: ['It is no iteration of the loops around the node.'] });
  }
  const loops: TriedPlace['loops'] = [];
  const paths = [''];
  for (const [depth, number] of around.entries()) {
    const index = asked === undefined ? 0 : indexOfPath(scopeOfPath(asked, ids.slice(0, depth + 1))!);
    loops.push({ number, path: paths[depth]!, index });
    paths.push(iterationPath(paths[depth]!, ids[depth]!, index));
  }
  return { path: paths.at(-1)!, paths, loops };
}

/**
 * Leaves out the pins of the tested node that apply to the tested iteration, pins of nodes that the plan does not have,
 * and pins of iterations of loops that are not around their node now.
 */
async function pinsOf(
  { db, secretBox }: Pick<TestDeps, 'db' | 'secretBox'>,
  workflowId: number,
  now: Drawn,
  tried: { nodeId: string; path: string },
): Promise<FixedResult[]> {
  const pins = await listPins(db, secretBox, workflowId);
  if (pins.length === 0) return [];
  const fingerprints = fingerprintsOf(now);
  const { ids } = now.plan;
  const loopsOf = new Map(enclosingLoops(now.plan).map((loops, node) => [ids[node]!, loops.map((loop) => ids[loop]!)]));
  const nodes = new Map(now.document.nodes.map((drawn) => [drawn.id, drawn]));
  return pins.flatMap(({ nodeId, path, outcome, fingerprint, secretsThen }) => {
    const isOfTried = nodeId === tried.nodeId && (path === tried.path || path === '');
    if (isOfTried || !fingerprints.has(nodeId)) return [];
    if (path !== '' && scopeOfPath(path, loopsOf.get(nodeId)!) !== path) return [];
    const isStale = fingerprint !== null && fingerprint !== fingerprints.get(nodeId);
    const left = leavesNow(nodes.get(nodeId)!, outcome);
    return [{ nodeId, path, source: 'pin' as const, isStale, outcome: left, secretsThen }];
  });
}

const DECIDING = new Set<NodeKind>(['condition', 'switch', 'human']);

/**
 * Returns the pin of a deciding node with the handles that its content names in this drawing. The node may have been
 * unknown when the pin was written, or its branches may have another order since.
 */
function leavesNow({ kind, data }: Document['nodes'][number], outcome: FixedOutcome): FixedOutcome {
  if ('error' in outcome || !DECIDING.has(kind)) return outcome;
  const read = readFixedOutcome(kind, data, outcome.output);
  return typeof read === 'string' || 'error' in read ? outcome : { ...outcome, handles: read.handles };
}

/** Mocks and pins by node. A mock takes precedence over the pins of the same node for the iterations of the mock. */
class FixedResults {
  readonly #plan: Plan;
  readonly #paths: readonly string[];
  readonly #byNumber = new Map<number, Map<string, FixedResult>>();

  /** `results`: the mocks, followed by the pins. */
  constructor(plan: Plan, { paths }: TriedPlace, results: readonly FixedResult[]) {
    this.#plan = plan;
    this.#paths = paths;
    const outside = rootPlan(plan).ids.length;
    const numbers = new Map(plan.ids.map((id, number) => [id, number]));
    for (const result of results) {
      const number = numbers.get(result.nodeId);
      if (number === undefined) continue;
      // A node of a body is never executed outside of it, so a pin without a path stands for all iterations.
      const path = number < outside || result.path === '' ? EVERYWHERE : result.path;
      const places = this.#byNumber.get(number) ?? new Map<string, FixedResult>();
      const isMocked = result.source === 'pin' && places.get(EVERYWHERE)?.source === 'mock';
      if (!isMocked && !places.has(path)) places.set(path, { ...result, path });
      this.#byNumber.set(number, places);
    }
  }

  everywhere(number: number): FixedResult | undefined {
    return this.#byNumber.get(number)?.get(EVERYWHERE);
  }

  /** True if the test never executes the node: the result is fixed everywhere, or in the tested iteration. */
  isFixed(number: number): boolean {
    return this.#resultOf(number) !== undefined;
  }

  #resultOf(number: number): FixedResult | undefined {
    const places = this.#byNumber.get(number);
    const own = this.#paths.map((path) => places?.get(path)).find((result) => result !== undefined);
    return own ?? places?.get(EVERYWHERE);
  }

  handlesOf(number: number): Handle[] | undefined {
    const outcome = this.#resultOf(number)?.outcome;
    if (outcome === undefined) return undefined;
    if ('handles' in outcome) return outcome.handles;
    const handle = handleAfter(outcome.error.code, this.#plan, number);
    return handle === undefined ? [] : [handle];
  }

  places(): Map<number, true | string[]> {
    return new Map(
      [...this.#byNumber].map(([number, places]) => [number, places.has(EVERYWHERE) ? true : [...places.keys()]]),
    );
  }

  list(): FixedResult[] {
    return [...this.#byNumber.values()].flatMap((places) => [...places.values()]);
  }
}

/** The output of a trigger is its input. */
function inputIn(result: FixedResult | undefined): Record<string, unknown> | undefined {
  if (result === undefined || !('output' in result.outcome)) return undefined;
  const parsed = parseJsonOrUndefined(result.outcome.output.content);
  return isObject(parsed) ? parsed : undefined;
}
