// Plans a test run: what is executed, what is taken, and from where. Nothing is stored here. Extensions, section 11.
import { listPins } from '../../db/trying/pins-repository.js';
import { EVERYWHERE, type GivenResult } from '../../db/trying/test-runs-repository.js';
import type { StoredDrawing } from '../../db/workflows/workflows-repository.js';
import type { Document } from '../../graph/document.js';
import type { JsonObject } from '../../graph/json.js';
import { parseJson } from '../../graph/json-text.js';
import { isObject } from '../../graph/json.js';
import { handleAfter, rootPlan, type Handle, type Plan } from '../../graph/plan.js';
import { findVariables } from '../../graph/template.js';
import { chooseTrial, planTrial, type TrialMode } from '../../graph/trial-plan.js';
import type { AppDeps } from '../deps.js';
import { ApiError } from '../http/errors.js';
import { fingerprintsOf } from './fingerprints.js';
import { findSources, type Source } from './find-sources.js';
import { readMocks } from './read-mocks.js';

export interface TestToPlan {
  workflow: Pick<StoredDrawing, 'id'>;
  mode: TrialMode;
  nodeId: string;
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
  given: GivenResult[];
  /** The nodes whose results are taken from runs. */
  sources: Map<string, Source>;
  /** Nodes that are executed. */
  executed: Set<string>;
  /** Nodes that are read, and of which there is no result. */
  missing: string[];
  /** The input that a mock or a pin of the trigger says; undefined where none does. */
  input: Record<string, unknown> | undefined;
}

/** Throws the 400 for a node that cannot be tried, or a mock that is wrong. */
export async function planTest(
  deps: Pick<AppDeps, 'db' | 'secretBox' | 'config'>,
  { drawing, document, plan }: Drawn,
  { workflow, mode, nodeId, hasInput, mocks, usesPins }: TestToPlan,
): Promise<PlannedTest> {
  const root = rootPlan(plan);
  const node = root.ids.indexOf(nodeId);
  if (node < 0) throw unknownNode(nodeId, plan);
  const given = new GivenResults(plan, [
    ...readMocks(mocks, document),
    ...(usesPins ? await pinsOf(deps, workflow.id, { drawing, plan }, nodeId) : []),
  ]);
  const data = new Map(document.nodes.map((drawn) => [drawn.id, drawn.data]));
  const numbers = new Map(plan.ids.map((id, number) => [id, number]));
  const readsOf = (number: number): number[] =>
    findVariables(data.get(plan.ids[number]!) ?? {}).flatMap((variable) =>
      variable.source === 'node' || variable.source === 'error' ? (numbers.get(variable.nodeId) ?? []) : [],
    );
  const request = { mode, node, isGiven: (number: number) => given.isEverywhere(number), readsOf };
  const { executed, wanted, needed } = chooseTrial(plan, request);
  const isTrigger = plan.kinds[0] === 'trigger';
  const startIsTaken = isTrigger && !executed.has(0) && !hasInput && mode !== 'up_to' && !given.isEverywhere(0);
  const nodeIds = new Set(
    [...wanted, ...(startIsTaken ? [0] : [])]
      .filter((number) => !given.isEverywhere(number))
      .map((number) => plan.ids[number]!),
  );
  const sources =
    mode === 'up_to'
      ? new Map<string, Source>()
      : await findSources(deps, { workflowId: workflow.id, now: { drawing, plan }, nodeIds });
  const taken = new Map<number, readonly Handle[]>();
  for (const number of wanted) {
    const handles = given.handlesOf(number) ?? sources.get(plan.ids[number]!)?.handles;
    if (handles !== undefined) taken.set(number, handles);
  }
  const trial = planTrial(plan, { mode, node, executed, taken, given: given.places() });
  const ids = new Set(trial.ids);
  const run = trial.ids.filter((id) => {
    const number = numbers.get(id)!;
    const isTaken = taken.has(number) || given.isEverywhere(number);
    return !isTaken && (number !== 0 || !isTrigger || executed.has(0));
  });
  return {
    plan: trial,
    given: given.list().filter((result) => ids.has(result.nodeId)),
    sources,
    executed: new Set(run),
    missing: [...needed].filter((number) => !taken.has(number)).map((number) => plan.ids[number]!),
    input: isTrigger ? inputIn(given.everywhere(0)) : undefined,
  };
}

function unknownNode(nodeId: string, plan: Plan): ApiError {
  const why = plan.ids.includes(nodeId)
    ? 'is in the body of a loop: try the loop, or the node behind it'
    : 'is not a node that the start of the drawing reaches';
  return new ApiError(400, 'unknown_node', `node: "${nodeId.slice(0, 200)}" ${why}.`);
}

/** A pin never stands for the node that is tried. */
async function pinsOf(
  { db, secretBox }: Pick<AppDeps, 'db' | 'secretBox'>,
  workflowId: number,
  now: { drawing: JsonObject; plan: Plan },
  tried: string,
): Promise<GivenResult[]> {
  const pins = await listPins(db, secretBox, workflowId);
  if (pins.length === 0) return [];
  const fingerprints = fingerprintsOf(now);
  return pins.flatMap(({ nodeId, path, outcome, fingerprint }) => {
    if (nodeId === tried || !fingerprints.has(nodeId)) return [];
    const isStale = fingerprint !== null && fingerprint !== fingerprints.get(nodeId);
    return [{ nodeId, path, source: 'pin' as const, isStale, outcome }];
  });
}

/** Results that are given, by their nodes. A mock of a node takes precedence over its pin. */
class GivenResults {
  readonly #plan: Plan;
  readonly #byNumber = new Map<number, Map<string, GivenResult>>();

  constructor(plan: Plan, results: readonly GivenResult[]) {
    this.#plan = plan;
    const outside = rootPlan(plan).ids.length;
    const numbers = new Map(plan.ids.map((id, number) => [id, number]));
    for (const result of results) {
      const number = numbers.get(result.nodeId);
      if (number === undefined) continue;
      const path = number < outside ? EVERYWHERE : result.path;
      const places = this.#byNumber.get(number) ?? new Map<string, GivenResult>();
      if (!places.has(path)) places.set(path, { ...result, path });
      this.#byNumber.set(number, places);
    }
  }

  everywhere(number: number): GivenResult | undefined {
    return this.#byNumber.get(number)?.get(EVERYWHERE);
  }

  isEverywhere(number: number): boolean {
    return this.everywhere(number) !== undefined;
  }

  handlesOf(number: number): Handle[] | undefined {
    const outcome = this.everywhere(number)?.outcome;
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

  list(): GivenResult[] {
    return [...this.#byNumber.values()].flatMap((places) => [...places.values()]);
  }
}

/** A trigger puts out its input. */
function inputIn(result: GivenResult | undefined): Record<string, unknown> | undefined {
  if (result === undefined || !('output' in result.outcome)) return undefined;
  try {
    const parsed = parseJson(result.outcome.output.content);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
