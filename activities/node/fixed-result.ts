// In a test run, a mock or a pin may fix the result of a node, which is then not executed (docs/use/test-runs.md).
import type { NodeFacts } from '../../contract/activities.js';
import { findNodeClaim } from '../../db/nodes/node-results-repository.js';
import { isQuotaExceeded } from '../../db/projects/stored-bytes-repository.js';
import { recordFixedEnd, type FixedEnd, type FixedResult } from '../../db/test-runs/test-runs-repository.js';
import { mayBeCaught } from '../../graph/caught.js';
import { commonSettingsOf } from '../../graph/nodes/every-node.js';
import { handleAfter, type Handle, type NodeKey } from '../../graph/plan.js';
import { finalFailure, quotaFailure, runClosedFailure } from './failures.js';
import { handlesOf, type NodeDeps } from './node-step.js';
import { toErrorMessage } from './record.js';
import { toResultText } from './result-text.js';
import type { RunContext } from './run-context.js';

/**
 * Records the fixed result as the node's end, and returns or throws as if the node had been executed. If an end is
 * already recorded, that one counts.
 */
export async function recordFixedResult(
  { db, contexts, secretBox }: NodeDeps,
  key: NodeKey,
  { source, isStale, outcome }: FixedResult,
): Promise<NodeFacts> {
  const run = await contexts.load(key.runId);
  const node = run.node(key.nodeId);
  if (node === undefined) throw finalFailure('internal_error');
  const row = { ...key, source, isStale, isOutput: node.kind === 'output' };
  if ('error' in outcome) {
    await recordFixedEnd(db, { ...row, ...failed(run, node.data, outcome.error, key) });
  } else {
    const [handle = 0, ...also] = outcome.handles;
    const { plain, result, resultEnc } = toResultText(outcome, key, { masker: run.masker, secretBox });
    const end = { ...row, ...SUCCEEDED, handle, alsoHandles: also.length > 0 ? also : null, result, resultEnc };
    const isRecorded = await recordFixedEnd(db, end).catch(async (error: unknown) => {
      if (!isQuotaExceeded(error)) throw error;
      // A repetition would be refused again, and the database stores a failure even beyond the quota.
      await recordFixedEnd(db, { ...row, ...failed(run, node.data, quotaFailure(), key) });
      return false;
    });
    if (isRecorded) contexts.remember(key, plain);
  }
  const recorded = await findNodeClaim(db, key);
  if (recorded === undefined) throw runClosedFailure();
  if (recorded.status === 'failed') throw finalFailure(recorded.errorCode ?? 'internal_error');
  return handlesOf(recorded);
}

const SUCCEEDED = { status: 'succeed', errorCode: null, errorMessage: null, isHandled: false } as const;

type Failed = Pick<
  FixedEnd,
  'status' | 'handle' | 'alsoHandles' | 'result' | 'resultEnc' | 'errorCode' | 'errorMessage' | 'isHandled'
>;

function failed(
  run: RunContext,
  data: Record<string, unknown>,
  { code, message }: { code: string; message: string },
  { path, nodeId }: NodeKey,
): Failed {
  const plan = run.planOf(path);
  const handle: Handle | undefined = handleAfter(code, plan, plan.ids.indexOf(nodeId));
  const isHandled = mayBeCaught(code) && (handle !== undefined || commonSettingsOf(data).onError !== 'fail');
  return {
    status: 'failed',
    handle: 0,
    alsoHandles: null,
    result: null,
    resultEnc: null,
    errorCode: code,
    errorMessage: toErrorMessage({ message }, run.masker),
    isHandled,
  };
}
