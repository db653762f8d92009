import { activityInfo } from '@temporalio/activity';
import { inSpan, isTracing, runContext, withMask } from '../../telemetry/spans.js';
import type { RunContext, RunContexts } from './run-context.js';

/**
 * Runs `act` in a span, if the run has a trace. `name` is an activity type, which may differ from that of the running
 * activity.
 */
export type ActivityTracer = <Facts>(
  name: string,
  ref: { runId: string; nodeId?: string },
  act: () => Promise<Facts>,
) => Promise<Facts>;

/**
 * Creates a span for each node or step, including those in local activities, in the trace of the request or firing that
 * started the run. The trace context is stored with the run, so the trace covers every attempt in any worker. The run
 * workflow and Temporal's history do not hold the trace context.
 */
export function createActivityTracer(contexts: RunContexts): ActivityTracer {
  return async (name, { runId, nodeId }, act) => {
    const run = isTracing() ? await loadQuietly(contexts, runId) : undefined;
    const parent = run && runContext(run.runId, run.traceparent);
    if (run === undefined || parent === undefined) return act();
    const { attempt, isLocal } = activityInfo();
    const kind = nodeId === undefined ? undefined : run.node(nodeId)?.kind;
    const attributes = {
      'run.id': run.runId,
      'project.id': run.projectId,
      ...(nodeId === undefined ? {} : { 'node.id': nodeId }),
      ...(kind === undefined ? {} : { 'node.kind': kind }),
      'temporal.activity.attempt': attempt,
      'temporal.activity.local': isLocal,
    };
    return withMask(run.masker.text, () => inSpan(name, { parent, attributes }, act));
  };
}

/** Ignores an error, because the activity itself reports it. */
async function loadQuietly(contexts: RunContexts, runId: string): Promise<RunContext | undefined> {
  try {
    return await contexts.load(runId);
  } catch {
    return undefined;
  }
}
