// Creates, runs, watches and shows one sample workflow.
import { setTimeout as pause } from 'node:timers/promises';
import type { DemoApi, NodeState, RunState } from './demo-api.js';
import type { Sample, SampleNode } from '../samples/samples.js';
import type { Terminal } from './terminal.js';

const POLL_EVERY_MS = 100;
const GIVE_UP_AFTER_MS = 120_000;

export interface SampleRun {
  workflowId: number;
  runId: string;
}

/** Rejects when the run fails. `uiLink` returns the run's page in the Temporal UI. */
export async function runSample(
  api: DemoApi,
  terminal: Terminal,
  project: number,
  sample: Sample,
  uiLink: (runId: string) => string,
): Promise<SampleRun> {
  terminal.line(`\n${terminal.bold(sample.title)}`);
  terminal.line(terminal.dim(sample.description));
  const workflowId = await api.createWorkflow(project, sample.title, sample.data);
  const { id: runId } = await api.startRun(workflowId, sample.input);
  const state = await watch(api, terminal, sample, runId);
  terminal.line('  Results');
  for (const node of sample.data.nodes) terminal.line(resultLine(terminal, node, state.data?.[node.id]));
  const { cost, duration } = await api.finishedRun(workflowId, runId);
  const money = Object.entries(cost).map(([currency, amount]) => `${amount} ${currency}`);
  terminal.line(`  Cost ${money.join(' = ')}, duration ${duration?.toFixed(2)} s`);
  terminal.line(`  Temporal UI ${uiLink(runId)}`);
  if (state.status !== 'succeed') throw new Error(`the run of "${sample.title}" ended as ${state.status}`);
  return { workflowId, runId };
}

async function watch(api: DemoApi, terminal: Terminal, sample: Sample, runId: string): Promise<RunState> {
  const startedAt = Date.now();
  const seen = new Map<string, { sinceMs: number; tookMs?: number }>();
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
      terminal.settle();
      return state;
    }
    if (now > GIVE_UP_AFTER_MS) throw new Error(`the run ${runId} is still ${state.status} after ${now / 1000} s`);
    await pause(POLL_EVERY_MS);
  }
}

/** A pipe gets only final lines, each of them once. */
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

function resultLine(terminal: Terminal, { id, data: { label } }: SampleNode, state: NodeState | undefined): string {
  if (state === undefined) return terminal.dim(`    - ${id.slice(0, 8)}  ${label}: not taken`);
  const content = state.result?.content ?? `${state.error?.code}: ${state.error?.message}`;
  const start = `    ${mark(terminal, state)} ${terminal.dim(id.slice(0, 8))}  ${label}: `;
  const text = content.replaceAll(/\s+/g, ' ');
  const room = Math.max(40, terminal.columns - label.length - 20);
  return start + (text.length > room ? `${text.slice(0, room - 3)}...` : text);
}

function mark(terminal: Terminal, state: NodeState | undefined): string {
  if (state?.status === 'succeed') return terminal.green('ok');
  if (state?.status === 'failed') return terminal.red('!!');
  return terminal.yellow('..');
}
