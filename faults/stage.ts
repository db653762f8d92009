// The interface for faults, one object for each row of the matrix: the load of the row, additional runs, and hits (the
// moments at which the fault acts), which are recorded as evidence.
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiClient, type ApiClient } from '../harness/client/api-client.js';
import { retryingFetch } from '../harness/client/retrying.js';
import { eventually } from '../harness/timing/eventually.js';
import { startRun, type ClientRun } from './client.js';
import type { Ending, HitRecord } from './evidence.js';
import { createLoadShapes } from './load-shapes.js';
import type { Shape } from './shapes.js';
import { childShape, type ChildWorkflow } from './waits.js';
import type { Struck } from './service.js';
import type { World } from './world.js';

const START_EVERY_MS = 120;
/** The fault is applied when at least this share of the runs has a node in flight. */
const BUSY_SHARE = 0.3;
const END_WITHIN_MS = 300_000;
const OPEN_WITHIN_MS = 120_000;

/** The description of a hit, which the fault gives before the hit is applied. */
export interface HitDescription extends Pick<HitRecord, 'what' | 'cuts' | 'apiDown'> {
  /** The parts that the hit may end. All other parts must survive. */
  ends: string[];
}

interface Project {
  projectId: number;
  child: ChildWorkflow;
  workflows: LoadWorkflow[];
}

interface LoadWorkflow {
  id: number;
  shape: Shape;
}

export class Stage<Where extends Struck = World> {
  readonly world: Where;
  readonly api: ApiClient;
  readonly projectId: number;
  /** A workflow of the project that sub-workflow nodes run. */
  readonly child: ChildWorkflow;
  readonly runs: ClientRun[] = [];
  readonly hits: HitRecord[] = [];
  readonly complaints: string[] = [];
  /** Counts that show the effect of the fault, such as `12 packets dropped`. */
  readonly effects: string[] = [];
  readonly #name: string;
  readonly #workflows: LoadWorkflow[];
  readonly #aborted = new AbortController();

  private constructor(world: Where, name: string, { projectId, child, workflows }: Project) {
    this.world = world;
    this.child = child;
    this.api = createApiClient(world.apiUrl, world.apiKey);
    this.projectId = projectId;
    this.#name = name;
    this.#workflows = workflows;
    // Each client adds a listener.
    setMaxListeners(0, this.#aborted.signal);
  }

  /** Creates a project for the row, so that its sums start at 0. */
  static async open<Where extends Struck>(world: Where, name: string): Promise<Stage<Where>> {
    // Requests are retried, because connections that the previous row broke may still fail. A retry may create an
    // object twice. The first one stays unused.
    const fetch = retryingFetch(AbortSignal.timeout(OPEN_WITHIN_MS), () => undefined);
    const api = createApiClient(world.apiUrl, world.apiKey, { fetch });
    const projectId = await api.createProject(`Fault ${name}`);
    const childOfLoad = childShape();
    const child = {
      shape: childOfLoad,
      id: await api.createWorkflow(projectId, childOfLoad.drawing, childOfLoad.name),
    };
    const workflows: LoadWorkflow[] = [];
    for (const shape of createLoadShapes(world.outside, child)) {
      workflows.push({ shape, id: await api.createWorkflow(projectId, shape.drawing, shape.name) });
    }
    return new Stage(world, name, { projectId, child, workflows });
  }

  /** Starts `count` runs of the load, one every `everyMs`. */
  async startLoad(count: number, everyMs = START_EVERY_MS): Promise<void> {
    for (let started = 0; started < count; started++) {
      const { id, shape } = this.#workflows[this.runs.length % this.#workflows.length]!;
      this.#start(id, shape, { ending: 'succeed', mayAnswer: () => true });
      await pause(everyMs);
    }
  }

  /** Resolves when BUSY_SHARE of the load has nodes in flight. */
  async untilBusy(): Promise<void> {
    const wanted = Math.max(1, Math.floor(this.runs.length * BUSY_SHARE));
    const text = `SELECT count(DISTINCT run_id)::integer AS busy FROM node_results
      WHERE status = 'in progress' AND run_id IN (SELECT id FROM runs WHERE project_id = $1)`;
    await eventually(
      async () => (await this.world.query<{ busy: number }>(text, [this.projectId]))[0]!.busy >= wanted,
      { timeoutMs: 60_000, intervalMs: 10 },
    );
  }

  /**
   * Starts a run of the fault's own graph, in addition to the load. Waiting nodes get answers once `mayAnswer` returns
   * true.
   */
  async start(shape: Shape, ending: Ending = 'succeed', mayAnswer = (): boolean => true): Promise<ClientRun> {
    const { id } = await this.createWorkflow(shape);
    return this.#start(id, shape, { ending, mayAnswer });
  }

  /** Creates a workflow in the row's project. */
  async createWorkflow(shape: Shape): Promise<ChildWorkflow> {
    return { shape, id: await this.api.createWorkflow(this.projectId, shape.drawing, shape.name) };
  }

  /**
   * Records a hit. `act` applies it, and resolves when the struck parts work again. The finished nodes and steps are
   * read before `act` is called.
   */
  async hit({ ends, ...description }: HitDescription, act: () => Promise<void>): Promise<void> {
    const before = this.world.pids();
    const finished = await this.#finished();
    const calls = this.world.countCalls();
    const hit: HitRecord = { ...description, from: Date.now(), until: Number.POSITIVE_INFINITY, finished, calls };
    this.hits.push(hit);
    await act();
    hit.until = Date.now();
    const pids = this.world.pids();
    const dead = Object.keys(before).filter((part) => !ends.includes(part) && pids[part] !== before[part]);
    if (dead.length > 0) this.complain(`${description.what} also ended: ${dead.join(', ')}`);
  }

  /** Adds a count of the fault's effect to the row. A count of 0 is a violation. */
  count(what: string, amount: number): void {
    this.effects.push(`${amount.toLocaleString('en')} ${what}`);
    if (amount === 0) this.complain(`the fault had no effect: 0 ${what}`);
  }

  complain(message: string): void {
    this.complaints.push(message);
  }

  /** Returns false if a client has failed, or if a run has not ended in time, after which all clients are stopped. */
  async allEnded(): Promise<boolean> {
    const timer = setTimeout(() => this.giveUp(), END_WITHIN_MS);
    const outcomes = await Promise.allSettled(this.runs.map(({ ended }) => ended));
    clearTimeout(timer);
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []));
    for (const { name, message } of failures) if (name !== 'AbortError') this.complain(message);
    return failures.length === 0;
  }

  /** Stops all clients. */
  giveUp(): void {
    this.#aborted.abort();
  }

  #start(workflowId: number, shape: Shape, how: { ending: Ending; mayAnswer: () => boolean }): ClientRun {
    const tag = `${this.#name}-${Date.now().toString(36)}-${this.runs.length}`;
    const run = startRun(this.world, { workflowId, shape, tag, ...how, signal: this.#aborted.signal });
    this.runs.push(run);
    return run;
  }

  async #finished(): Promise<HitRecord['finished']> {
    const text = `
      WITH ours AS (SELECT id FROM runs WHERE project_id = $1)
      SELECT run_id AS "runId", path, node_id AS "nodeId", NULL AS step FROM node_results
        WHERE status <> 'in progress' AND NOT is_iteration AND run_id IN (SELECT id FROM ours)
      UNION ALL SELECT run_id, path, node_id, 'turn ' || turn FROM agent_turns WHERE run_id IN (SELECT id FROM ours)
      UNION ALL SELECT run_id, path, node_id, 'tools ' || turn FROM agent_tool_calls
        WHERE outcome IS NOT NULL AND run_id IN (SELECT id FROM ours)`;
    return this.world.query(text, [this.projectId]);
  }
}
