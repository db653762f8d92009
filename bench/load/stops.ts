// Scenario `d` of `npm run load`.
// SIGTERM under load: to the whole stack, to the API alone, and to the worker alone.
import { setTimeout as pause } from 'node:timers/promises';
import { createLoadClient, pollRuns, startRuns } from '../../harness/client/load.js';
import { smallRun } from './drawings.js';
import type { Findings } from './report.js';
import { countCalls, type LoadStack } from './stack.js';
import { isAlive } from '../../harness/processes/signals.js';

const CALLERS = 50;
const POLLERS = 100;
const LONGEST_STOP_MS = 15_000;

export async function stopWhole(stack: LoadStack, count: number): Promise<Findings> {
  const callsBefore = await countCalls(stack);
  const client = createLoadClient(stack, CALLERS);
  const workflowId = await client.createWorkflow('stopped', smallRun(stack.targetUrl));
  const { runIds } = await startRuns(client, workflowId, { count, atOnce: CALLERS });
  await client.close();
  const { tookMs, exitCode } = await stack.stop();
  await stack.start();
  const again = createLoadClient(stack, POLLERS);
  const polling = pollRuns(again, { pollers: POLLERS, everyMs: 200 });
  const startedAt = performance.now();
  for (const runId of runIds) polling.add(runId);
  const ends = await polling.finish();
  await again.close();
  const calls = await countCalls(stack);
  return {
    scenario: `SIGTERM to the whole stack after ${count} runs were accepted, then a new start`,
    figures: {
      'stopped after, s': tookMs / 1000,
      'all ended after the new start, s': (performance.now() - startedAt) / 1000,
      lost: count - ends.succeeded - ends.failed,
      failed: ends.failed,
      'nodes called twice': calls.repeated - callsBefore.repeated,
    },
    claims: {
      'it ended with code 0': exitCode === 0,
      'every accepted run ended, as succeeded': ends.succeeded === count,
      'no node was called twice': calls.repeated === callsBefore.repeated,
    },
  };
}

/** Callers continue while the process is stopped; the supervisor restarts it. */
export async function stopOne(stack: LoadStack, part: 'api' | 'worker', count: number): Promise<Findings> {
  const callsBefore = await countCalls(stack);
  const client = createLoadClient(stack, CALLERS);
  const workflowId = await client.createWorkflow('stopped', smallRun(stack.targetUrl));
  const outcome = { answered: [] as string[], refused: 0, cut: [] as string[] };
  let left = count;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      try {
        outcome.answered.push(await client.start(workflowId));
      } catch (error) {
        if (isRefusal(error)) outcome.refused += 1;
        else outcome.cut.push(error instanceof Error ? `${error.message} ${codeOf(error)}` : String(error));
        await pause(50);
      }
    }
  };
  const calling = Promise.all(Array.from({ length: CALLERS }, caller));
  await pause(1_500);
  const tookMs = await terminate(stack, part);
  await calling;
  const polling = pollRuns(client, { pollers: POLLERS, everyMs: 200 });
  for (const runId of outcome.answered) polling.add(runId);
  const ends = await polling.finish();
  await client.close();
  const calls = await countCalls(stack);
  return {
    scenario: `SIGTERM to the ${part} alone while ${CALLERS} connections start runs`,
    figures: {
      'requests answered': outcome.answered.length,
      'requests refused (no connection)': outcome.refused,
      'requests cut or answered with an error': outcome.cut.length,
      'stopped after, s': tookMs / 1000,
      'accepted but lost': outcome.answered.length - ends.succeeded - ends.failed,
      failed: ends.failed,
      'nodes called twice': calls.repeated - callsBefore.repeated,
      ...(outcome.cut.length > 0 ? { 'first cut': outcome.cut[0]! } : {}),
    },
    claims: {
      'no request was cut': outcome.cut.length === 0,
      'it was gone within 15 s': tookMs < LONGEST_STOP_MS,
      'every accepted run ended, as succeeded': ends.succeeded === outcome.answered.length,
      'no node was called twice': calls.repeated === callsBefore.repeated,
    },
  };
}

/** Returns the time until the process had ended. The supervisor logs its exit code as the reason of the restart. */
async function terminate(stack: LoadStack, part: 'api' | 'worker'): Promise<number> {
  const pid = stack.stack.pids[part];
  if (pid === undefined) throw new Error(`the ${part} is not running`);
  const startedAt = performance.now();
  process.kill(pid, 'SIGTERM');
  while (isAlive(pid)) await pause(20);
  const tookMs = performance.now() - startedAt;
  while ((stack.stack.pids[part] ?? pid) === pid) await pause(50);
  return tookMs;
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? '';
}

/** Returns true if nobody listened on the port, so no part of the request was read. */
function isRefusal(error: unknown): boolean {
  return codeOf(error) === 'ECONNREFUSED';
}
