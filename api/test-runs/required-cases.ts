// Requires that a workflow's required cases pass before it is published.
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../telemetry/logger.js';
import { openDrawing } from '../../acceptance/opened-drawing.js';
import { findCaseRun } from '../../db/test-runs/case-runs-repository.js';
import { findDrawing } from '../../db/workflows/workflows-repository.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { TestDeps } from './deps.js';
import { ApiError, orNotFound } from '../http/errors.js';
import type { Asker } from '../http/heavy-work.js';
import { withDrawing } from '../workflows/with-drawing.js';
import { chosen } from './cases-routes.js';
import { startCases, driveCases } from './run-cases.js';

const PATIENCE_MS = 60_000;
const LOOK_AGAIN_MS = 200;

/**
 * Runs the required cases. Throws 409 `cases_failed` if one fails, or `cases_running` if they have not ended within a
 * minute.
 */
export async function passRequiredCases(
  deps: TestDeps,
  log: Logger,
  { workflowId, userId, asker }: { workflowId: number; userId: number; asker: Asker & { memory: ByteLease } },
): Promise<void> {
  const { memory, signal } = asker;
  const cases = await chosen(deps, memory, { workflowId, isRequired: true });
  if (cases.length === 0) return;
  const before = memory.bytes;
  const id = await withDrawing(deps, asker, { workflowId, form: 'parsed' }, async () => {
    const workflow = orNotFound(await findDrawing(deps.db, workflowId));
    const { drawing } = openDrawing(deps.secretBox, workflow);
    const tried = { drawing, version: workflow.version };
    return startCases(deps, { workflow, userId, tried, cases, maxCostUsd: null });
  });
  await memory.resize(before);
  for (const giveUpAt = performance.now() + PATIENCE_MS; performance.now() < giveUpAt && !signal.aborted;) {
    const run = orNotFound(await findCaseRun(deps.db, workflowId, id));
    if (run.status === 'passed') return;
    if (run.status === 'failed') {
      throw new ApiError(409, 'cases_failed', `Not all required cases have passed: see the run ${id} of these cases.`);
    }
    await driveCases(deps, log, run, signal);
    await pause(LOOK_AGAIN_MS);
  }
  throw new ApiError(409, 'cases_running', `The required cases have not ended yet: see the run ${id} of these cases.`);
}
