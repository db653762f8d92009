// Decides which results a resuming run reuses: those of the nodes and loops outside bodies whose `Fate` is `kept`; in a
// loop that is `continued`, the succeeded iterations, and the `kept` nodes of its other iterations.
import type { Db } from '../../../db/core/client.js';
import {
  findStartedIterations,
  findEndedNodes,
  type ReusedResults,
  type NodeInRun,
} from '../../../db/resume/resume-repository.js';
import { indexOfPath, iterationsPrefix } from '../../../graph/iteration-path.js';
import { traitsOf } from '../../../graph/kinds.js';
import { bodyPlan, rootPlan, type NodeEnding, type Plan, type ScopePlan } from '../../../graph/plan.js';
import { fatesOf, type Fate } from '../../../graph/resumed-nodes.js';

/**
 * Limits, for each loop, the reused nodes in iterations that have not succeeded, because these nodes are passed to the
 * run workflow, whose history must stay small. The nodes of further such iterations are executed anew.
 */
const MAX_NODES_IN_ITEMS = 10_000;

/**
 * Stands for the end of node 0 of a body's plan, which is the loop itself. The loop has started its body, so its links
 * into the body (handle 0) count as taken.
 */
const ENTRY: NodeEnding = { status: 'succeed', handle: 0, alsoHandles: null, errorCode: null, isHandled: false };

export function isRepeated(fate: Fate | undefined): boolean {
  return fate === 'continued' || fate === 'anew';
}

export class ReusedScopes {
  readonly reused: ReusedResults = { nodes: [], loops: [], iterations: [] };
  readonly #db: Db;
  readonly #runId: string;
  readonly #plan: Plan;
  /** The fates by path and node: of the nodes outside bodies, and of those in iterations that continue. */
  readonly #fates = new Map<string, Map<string, Fate>>();
  /** The reused iterations of each loop, by the prefix of their paths. */
  readonly #done = new Map<string, 'all' | ReadonlySet<number>>();
  /** The path prefix of the iterations of each outermost loop. */
  readonly #outermostLoops = new Set<string>();

  private constructor(db: Db, runId: string, plan: Plan) {
    this.#db = db;
    this.#runId = runId;
    this.#plan = plan;
  }

  /** `isAnew`: true for nodes that must run again, whatever their result. */
  static async plan(db: Db, runId: string, plan: Plan, isAnew: (nodeId: string) => boolean): Promise<ReusedScopes> {
    const scopes = new ReusedScopes(db, runId, plan);
    const ends = new Map((await findEndedNodes(db, runId)).map((end) => [end.nodeId, end]));
    await scopes.#add('', rootPlan(plan), ends, isAnew);
    return scopes;
  }

  get isSomethingLeft(): boolean {
    return [...this.#fates.get('')!.values()].some(isRepeated);
  }

  /**
   * Returns undefined for a node that the drawing no longer has. Exception: in an iteration that is neither reused nor
   * continued, every node is `anew`, also one that its loop's body no longer has.
   */
  fateOf({ path, nodeId }: NodeInRun): Fate | undefined {
    const known = this.#fates.get(path);
    if (known !== undefined) return known.get(nodeId);
    let isInLoop = false;
    for (let end = path.indexOf('[') + 1; end > 0; end = path.indexOf('[', end) + 1) {
      const done = this.#done.get(path.slice(0, end));
      if (done === 'all' || done?.has(Number.parseInt(path.slice(end), 10)) === true) return 'kept';
      if (this.#outermostLoops.has(path.slice(0, end))) isInLoop = true;
    }
    return isInLoop ? 'anew' : undefined;
  }

  async #add(
    path: string,
    plan: ScopePlan,
    ends: ReadonlyMap<string, NodeEnding>,
    isAnew: (nodeId: string) => boolean,
  ): Promise<void> {
    const fates = fatesOf({ plan, endOf: (id) => ends.get(id), isAnew });
    this.#fates.set(path, new Map(plan.ids.map((id, node) => [id, fates[node]!])));
    for (const [node, nodeId] of plan.ids.entries()) {
      const isEntry = path !== '' && node === 0;
      if (isEntry) continue;
      const isLoop = traitsOf(plan.kinds[node]!).runs === 'body';
      if (fates[node] === 'kept') this.reused.nodes.push({ path, nodeId });
      if (isLoop && path === '') this.#outermostLoops.add(iterationsPrefix(path, nodeId));
      if (fates[node] === 'kept' && isLoop) {
        this.reused.loops.push({ path, nodeId });
        this.#done.set(iterationsPrefix(path, nodeId), 'all');
      }
      if (fates[node] === 'continued' && isLoop) await this.#addLoop({ path, nodeId }, plan.offset + node);
    }
  }

  async #addLoop(loop: NodeInRun, number: number): Promise<void> {
    const started = await findStartedIterations(this.#db, { runId: this.#runId, ...loop });
    const indexes = started.flatMap(({ path, isDone }) => (isDone ? [indexOfPath(path)] : []));
    if (started.length === 0) return;
    this.reused.iterations.push({ ...loop, indexes });
    this.#done.set(iterationsPrefix(loop.path, loop.nodeId), new Set(indexes));
    const body = bodyPlan(this.#plan, number);
    let room = MAX_NODES_IN_ITEMS;
    for (const { path, isDone, ends } of started) {
      room -= isDone ? 0 : ends.length;
      if (isDone || room < 0) continue;
      const known = new Map<string, NodeEnding>([
        [loop.nodeId, ENTRY],
        ...ends.map((end) => [end.nodeId, end] as const),
      ]);
      await this.#add(path, body, known, () => false);
    }
  }
}
