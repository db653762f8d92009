import { activityInfo } from '@temporalio/activity';
import { inSpan, isTracing, runContext, withMask } from '../../config/spans.js';
import type { RunContext, RunContexts } from '../node/run-context.js';

/** `name`: of the activity type that does such work, whichever activity does it now. */
export type ActivityTracer = <Facts>(
  name: string,
  ref: { runId: string; nodeId?: string },
  act: () => Promise<Facts>,
) => Promise<Facts>;

/**
 * A span a node, or step of one, local ones too, in the trace of the request that its run was accepted in. That is stored
 * with the run: neither the run workflow nor Temporal's history knows of it, and it holds wherever and whenever a node is
 * tried.
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

/** What is wrong with the run or the database, the activity says itself. */
async function loadQuietly(contexts: RunContexts, runId: string): Promise<RunContext | undefined> {
  try {
    return await contexts.load(runId);
  } catch {
    return undefined;
  }
}
