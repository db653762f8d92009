import type { Context } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor, ActivityInterceptors } from '@temporalio/worker';
import { inSpan, runContext, withMask } from '../config/spans.js';
import type { RunContext, RunContexts } from './run-context.js';

/**
 * A span an activity, local ones too, in the trace of the request that its run was accepted in. That is stored with the
 * run: neither the run workflow nor Temporal's history knows of it, and it holds wherever and whenever a node is tried.
 */
export function createTraceInterceptor(contexts: RunContexts): (context: Context) => ActivityInterceptors {
  return ({ info }) => {
    const inbound: ActivityInboundCallsInterceptor = {
      async execute(input, next) {
        const { runId, nodeId } = (input.args[0] ?? {}) as { runId?: string; nodeId?: string };
        const run = runId === undefined ? undefined : await loadQuietly(contexts, runId);
        const parent = run && runContext(run.runId, run.traceparent);
        if (run === undefined || parent === undefined) return next(input);
        const kind = nodeId === undefined ? undefined : run.node(nodeId)?.kind;
        const attributes = {
          'run.id': run.runId,
          'project.id': run.projectId,
          ...(nodeId === undefined ? {} : { 'node.id': nodeId }),
          ...(kind === undefined ? {} : { 'node.kind': kind }),
          'temporal.activity.attempt': info.attempt,
          'temporal.activity.local': info.isLocal,
        };
        return withMask(run.masker.text, () => inSpan(info.activityType, { parent, attributes }, () => next(input)));
      },
    };
    return { inbound };
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
