// Runs that are open for long: they wait, are in the middle of a loop, or have started another run. Their results can
// be compared with those of the same runs without an interruption.
import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, linkInRow, node, resultOf, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { queryDatabase } from '../support/inspect.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { callBack, taskOf, untilWaiting } from '../support/waiting.js';
import type { HttpTarget } from '../../harness/target/http-target.js';

/** The wait for a time begins last, because it does not stay open for long. */
export const OPEN_RUNS = ['for_each', 'loop', 'child', 'human', 'time'] as const;
export type OpenRunName = (typeof OPEN_RUNS)[number];

const LONG = { timeoutMs: 90_000, intervalMs: 100 };
const ITEMS = ['first', 'second', 'third', 'fourth'];
const ROUNDS = 3;
/** The paths that nodes call, below the tag of their run. */
const PLACES = [
  ...ITEMS.map((_, index) => `item-${index}`),
  ...Array.from({ length: ROUNDS }, (_, index) => `round-${index}`),
  'child',
  'after',
];

/** The stored results of a run that has ended, without the values that differ from run to run. */
export interface Traces {
  status: string;
  output: unknown;
  /** The ends of its nodes and iterations, in their order in each iteration. */
  nodes: unknown[];
  transactions: unknown[];
  /** The traces of the run that it has started, if any. */
  child: Traces | undefined;
}

interface Workflow {
  id: number;
  /** The node that stays open: the one that waits, or the loop whose body waits. */
  open: DrawingNode;
}

export class OpenRuns {
  readonly #stack: () => TestStack;
  readonly #target: HttpTarget;
  readonly #workflows: Record<OpenRunName, Workflow>;

  private constructor(stack: () => TestStack, target: HttpTarget, workflows: Record<OpenRunName, Workflow>) {
    this.#stack = stack;
    this.#target = target;
    this.#workflows = workflows;
  }

  /** `stack` returns the stack that is running now; tests replace it. */
  static async create(stack: () => TestStack, target: HttpTarget): Promise<OpenRuns> {
    const api = createApiClient(stack().apiUrl, stack().apiKey);
    const project = await api.createProject();
    const create = async (nodes: DrawingNode[], open: DrawingNode) => ({
      id: await api.createWorkflow(project, drawing(nodes)),
      open,
    });
    const time = node('wait', { mode: 'until', until: '{{ input.until }}' });
    const person = node('human', { message: 'Well?', actions: [] });
    const afterPerson = toAfter(target);
    person.data['actions'] = [
      { id: 'yes', label: 'Yes', node: afterPerson.id },
      { id: 'no', label: 'No' },
    ];
    const asking = askOutside(target, 'child');
    const answer = toOutput(resultOf(asking[1]));
    const childId = await api.createWorkflow(project, drawing(linkInRow([trigger(), ...asking, answer])));
    const call = node('workflow', { workflow_id: childId, input: { tag: '{{ input.tag }}' } });
    const [each, loop] = [toForEach(target), toLoop(target)];
    return new OpenRuns(stack, target, {
      time: await create(linkInRow([trigger(), time, toAfter(target)]), time),
      for_each: await create([...linkInRow([trigger(), each.loop, toAfter(target)]), ...each.body], each.loop),
      loop: await create([...linkInRow([trigger(), loop.loop, toAfter(target)]), ...loop.body], loop.loop),
      child: await create(linkInRow([trigger(), call, toOutput(resultOf(call, 'output'))]), call),
      human: await create([...linkInRow([trigger(), person]), afterPerson], person),
    });
  }

  get #api(): ApiClient {
    const { apiUrl, apiKey } = this.#stack();
    return createApiClient(apiUrl, apiKey);
  }

  /**
   * Starts a run and resolves when it is open: in a loop, some iterations have ended then. The run that waits for a
   * time waits for `seconds`.
   */
  async begin(name: OpenRunName, { tag, seconds }: { tag: string; seconds: number }): Promise<OpenRun> {
    const { id, open } = this.#workflows[name];
    // The answers differ only by the tag, which the traces leave out.
    for (const place of PLACES) this.#target.on(`/${tag}/${place}`, { body: `answer to /${tag}/${place}` });
    const until = new Date(Date.now() + seconds * 1_000).toISOString();
    const { data } = await this.#api.run(id, { tag, until });
    const run = { name, tag, runId: data.id, node: open };
    if (name === 'for_each') {
      await this.#urlAt(tag, 'item-0');
      await this.#call(tag, 'item-1');
      await this.#urlAt(tag, 'item-2');
    }
    if (name === 'loop') {
      await this.#call(tag, 'round-0');
      await this.#urlAt(tag, 'round-1');
    }
    if (name === 'child') await this.#urlAt(tag, 'child');
    if (name === 'time' || name === 'human') await untilWaiting(this.#api, data.id, open.id);
    return run;
  }

  /** Gives the answers that the run still waits for. Resolves when it has ended. */
  async end({ name, tag, runId, node: open }: OpenRun): Promise<Traces> {
    if (name === 'for_each') for (const place of ['item-2', 'item-3', 'item-0']) await this.#call(tag, place);
    if (name === 'loop') for (const place of ['round-1', 'round-2']) await this.#call(tag, place);
    if (name === 'child') await this.#call(tag, 'child');
    if (name === 'human') {
      const task = await taskOf(this.#api, runId, open.id);
      const { status } = await this.#api.post(`/human-tasks/${task}/answer/`, { body: { action: 'yes' } });
      assert.equal(status, 200);
    }
    await this.#api.pollToEnd(runId, LONG);
    return this.#tracesOf(runId, tag);
  }

  async isOpen({ runId }: OpenRun): Promise<boolean> {
    return (await this.#api.poll(runId)).data.status === 'in progress';
  }

  /** The called paths below the run's tag; a path that was called twice is listed twice. */
  callsOf({ tag }: Pick<OpenRun, 'tag'>): string[] {
    return PLACES.flatMap((place) => this.#target.requestsTo(`/${tag}/${place}`).map(() => place));
  }

  /** The callback address that the run has sent to this place. */
  #urlAt(tag: string, place: string): Promise<string> {
    return eventually(() => {
      const [request] = this.#target.requestsTo(`/${tag}/${place}`);
      return request !== undefined && (JSON.parse(request.body) as { url: string }).url;
    }, LONG);
  }

  async #call(tag: string, place: string): Promise<void> {
    const answer = await callBack(await this.#urlAt(tag, place), `answer to ${place}`);
    assert.deepEqual(answer, { status: 200, accepted: true });
  }

  async #tracesOf(runId: string, tag: string): Promise<Traces> {
    const { data } = await this.#api.poll(runId);
    const plain = (value: unknown): unknown =>
      value === undefined ? undefined : JSON.parse(withoutMoments(JSON.stringify(value).replaceAll(tag, 'TAG')));
    const nodes = await queryDatabase<{ content: string | null }>(
      this.#stack(),
      `SELECT path, node_id, is_iteration, status, error_code, attempts, iterations, result->>'content' AS content
       FROM node_results WHERE run_id = $1 ORDER BY path, is_iteration, finished_at`,
      [runId],
    );
    const transactions = await queryDatabase(
      this.#stack(),
      `SELECT path, node_id, operation, status, amount_usd, reason FROM billing_transactions WHERE run_id = $1
       ORDER BY path, node_id, operation`,
      [runId],
    );
    const [child] = await queryDatabase<{ id: string }>(this.#stack(), 'SELECT id FROM runs WHERE parent_run_id = $1', [
      runId,
    ]);
    return {
      status: data.status,
      output: plain(data.output),
      nodes: nodes.map(plain),
      transactions,
      child: child && (await this.#tracesOf(child.id, tag)),
    };
  }
}

export interface OpenRun {
  name: OpenRunName;
  tag: string;
  runId: string;
  node: DrawingNode;
}

function withoutMoments(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'MOMENT');
}

function toOutput(value: string): DrawingNode {
  return node('output', { value });
}

function toAfter({ url }: HttpTarget): DrawingNode {
  return http(`${url}/{{ input.tag }}/after`, { method: 'POST', body: {} });
}

/** A call that sends the address of the wait after it, and the wait. */
function askOutside({ url }: HttpTarget, place: string): [call: DrawingNode, wait: DrawingNode] {
  const wait = node('wait', { mode: 'callback' });
  const body = { url: `{{ ${wait.id}.callback_url }}` };
  return [http(`${url}/{{ input.tag }}/${place}`, { method: 'POST', body }), wait];
}

/** A loop over two items at a time: each sends an address and waits until it is called. */
function toForEach(target: HttpTarget) {
  const loop = node('for_each', { items: ITEMS, concurrency: 2 });
  const body = askOutside(target, `item-{{ ${loop.id}.index }}`);
  const [first, wait] = body;
  linkInRow(body);
  Object.assign(loop.data, { body_node: first.id, output: `{{ ${loop.id}.item }}: ${resultOf(wait)}` });
  return { loop, body };
}

function toLoop(target: HttpTarget) {
  const loop = node('loop', { max_rounds: 2 * ROUNDS });
  const index = `{{ ${loop.id}.index }}`;
  const [first, wait] = askOutside(target, `round-${index}`);
  const value = node('set', { value: `{{ ${loop.id}.last }}, ${resultOf(wait)}` });
  const body = linkInRow([first, wait, value]);
  const until = { left: index, operator: '==', right: String(ROUNDS - 1) };
  Object.assign(loop.data, { body_node: first.id, until });
  return { loop, body };
}
