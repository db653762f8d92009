// Creates, runs, watches and prints one sample workflow.
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { cutText } from '../../graph/cut-text.js';
import { createAttendant } from './attend.js';
import type { DemoApi, FinishedRun, NodeState, RunState } from './demo-api.js';
import { filesOfSample, type Sample, type SampleNode } from '../samples/samples.js';
import type { Terminal } from './terminal.js';

const POLL_EVERY_MS = 100;
export const GIVE_UP_AFTER_MS = 120_000;

export interface SampleRun {
  workflowId: number;
  runId: string;
}

interface Stage {
  api: DemoApi;
  terminal: Terminal;
  uiLink: (runId: string) => string;
  /** True if the sandbox model answers, so that the output is known in advance. */
  isStandIn: boolean;
}

interface Watched {
  state: RunState;
  /** The demo's own steps meanwhile, as sentences. */
  done: string[];
}

/**
 * Rejects if the run fails or does not end in time, or if the sandbox model answers and the output differs from the
 * sample's. `before`: sentences about the preparation of the sample.
 */
export async function runSample(
  stage: Stage,
  project: number,
  sample: Sample,
  before: readonly string[] = [],
  giveUpAfterMs = GIVE_UP_AFTER_MS,
): Promise<SampleRun> {
  const { api, terminal, uiLink, isStandIn } = stage;
  terminal.line(`\n${terminal.bold(sample.title)}`);
  terminal.line(terminal.dim(sample.description));
  for (const sentence of before) terminal.line(`  ${sentence}`);
  const workflowId = await api.createWorkflow(project, sample.title, sample.data);
  if (sample.is_chat === true) await api.makeChat(workflowId);
  const { id: runId } = await api.startRun(workflowId, sample.input, filesOfSample(sample));
  const { state, done } = await watch(stage, sample, runId, giveUpAfterMs);
  for (const sentence of done) terminal.line(`  ${sentence}`);
  terminal.line('  Results');
  const inBodies = loopsOfBodies(sample);
  for (const node of sample.data.nodes) {
    terminal.line(resultLine(terminal, node, state.data?.[node.id], inBodies.get(node.id)));
    for (const path of await failedPaths(api, { workflowId, runId }, node.id, state)) {
      terminal.line(`       The iteration ${path} has failed, and its loop has gone on.`);
    }
  }
  if (state.output !== undefined) terminal.line(`  The run puts out ${JSON.stringify(state.output)}`);
  terminal.line(`  ${costLine(await api.finishedRun(workflowId, runId))}`);
  terminal.line(`  Temporal UI ${uiLink(runId)}`);
  if (state.status !== 'succeed') throw new Error(`the run of "${sample.title}" ended as ${state.status}`);
  if (isStandIn && !isDeepStrictEqual(state.output, sample.output)) {
    throw new Error(`the run of "${sample.title}" should have put out ${JSON.stringify(sample.output)}`);
  }
  return { workflowId, runId };
}

function costLine({ cost, total_cost: total, duration }: FinishedRun): string {
  const toText = (money: Record<string, string>): string =>
    Object.entries(money)
      .map(([currency, amount]) => `${amount} ${currency}`)
      .join(' = ');
  const withOthers = isDeepStrictEqual(cost, total) ? '' : `, with the runs that it has started ${toText(total)}`;
  return `Cost ${toText(cost)}${withOthers}, duration ${duration?.toFixed(2)} s`;
}

async function failedPaths(
  api: DemoApi,
  { workflowId, runId }: SampleRun,
  node: string,
  { data }: RunState,
): Promise<string[]> {
  const failed = data?.[node]?.iterations?.failed ?? 0;
  return failed === 0 ? [] : api.failedIterations(workflowId, runId, node);
}

/** Maps each node in a loop's body to the label of a loop around it. */
function loopsOfBodies({ data: { nodes, edges } }: Sample): Map<string, string> {
  const around = new Map<string, string>();
  for (const { source, target, sourceHandle } of edges) {
    const label = nodes.find(({ id }) => id === source)?.data.label;
    if (sourceHandle !== 'body' || label === undefined) continue;
    const reached = new Set([target]);
    // Iterating a Set also visits the ids that are added meanwhile.
    for (const id of reached) for (const edge of edges) if (edge.source === id) reached.add(edge.target);
    for (const id of reached) around.set(id, label);
  }
  return around;
}

async function watch({ api, terminal }: Stage, sample: Sample, runId: string, giveUpAfterMs: number): Promise<Watched> {
  const startedAt = Date.now();
  const seen = new Map<string, { sinceMs: number; tookMs?: number }>();
  const attend = createAttendant(api, sample);
  const done: string[] = [];
  for (;;) {
    const state = await api.poll(runId);
    const now = Date.now() - startedAt;
    for (const [id, { status }] of Object.entries(state.data ?? {})) {
      const times = seen.get(id) ?? { sinceMs: now };
      if (status !== 'in progress') times.tookMs ??= now - times.sinceMs;
      seen.set(id, times);
    }
    const isOver = state.status === 'succeed' || state.status === 'failed';
    terminal.live(progressLines(terminal, sample, state, seen, isOver));
    if (isOver) {
      terminal.keepLines();
      return { state, done };
    }
    done.push(...(await attend(state)));
    if (now > giveUpAfterMs) throw new Error(`the run ${runId} is still ${state.status} after ${now / 1000} s`);
    await pause(POLL_EVERY_MS);
  }
}

/** Returns a line for each node that has started; for a terminal, also for each other node until the run is over. */
function progressLines(
  terminal: Terminal,
  sample: Sample,
  state: RunState,
  seen: Map<string, { sinceMs: number; tookMs?: number }>,
  isOver: boolean,
): string[] {
  const started = [...seen.keys()].toSorted((a, b) => seen.get(a)!.sinceMs - seen.get(b)!.sinceMs);
  const labels = new Map(sample.data.nodes.map(({ id, data }) => [id, data.label]));
  const waiting = [...labels.keys()].filter((id) => !seen.has(id));
  const lines = started.map((id) => {
    const tookMs = seen.get(id)?.tookMs;
    const time =
      tookMs === undefined || tookMs < POLL_EVERY_MS ? '' : terminal.dim(` about ${(tookMs / 1000).toFixed(1)} s`);
    const note = state.data?.[id]?.status === 'in progress' ? terminal.yellow(' running') : time;
    return `  ${mark(terminal, state.data?.[id])} ${labels.get(id) ?? id}${note}`;
  });
  if (terminal.isLive && !isOver) for (const id of waiting) lines.push(terminal.dim(`  . ${labels.get(id)}`));
  return lines;
}

/** `loop` is the label of the loop whose iterations execute the node. */
function resultLine(
  terminal: Terminal,
  { id, data: { label } }: SampleNode,
  state: NodeState | undefined,
  loop: string | undefined,
): string {
  const name = `${id.slice(0, 8)}  ${label}: `;
  if (loop !== undefined) return terminal.dim(`    - ${name}in each iteration of "${loop}"`);
  if (state === undefined) return terminal.dim(`    - ${name}not taken`);
  const count = state.iterations === undefined ? '' : `${state.iterations.total} iterations, `;
  const content = state.result?.content ?? `${state.error?.code}: ${state.error?.message}`;
  const start = `    ${mark(terminal, state)} ${terminal.dim(id.slice(0, 8))}  ${label}: ${count}`;
  const text = content.replaceAll(/\s+/g, ' ');
  const room = Math.max(40, terminal.columns - label.length - count.length - 20);
  return start + (text.length > room ? `${cutText(text, room - 3)}...` : text);
}

function mark(terminal: Terminal, state: NodeState | undefined): string {
  if (state?.status === 'succeed') return terminal.green('ok');
  if (state?.status === 'failed') return terminal.red('!!');
  return terminal.yellow('..');
}
