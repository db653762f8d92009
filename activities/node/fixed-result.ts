// A node of a test run that is given its result is not executed: it ends with what a mock or a pin says. Extensions, section
// 11.
import { mayBeCaught } from '../../graph/caught.js';
import type { NodeFacts } from '../../contract/activities.js';
import { whatEveryNodeSays } from '../../graph/nodes/every-node.js';
import { handleAfter, type Handle, type NodeKey } from '../../graph/plan.js';
import { findNodeClaim } from '../../db/nodes/node-results-repository.js';
import {
  findGivenResult,
  recordGivenEnd,
  type GivenEnd,
  type GivenResult,
} from '../../db/trying/test-runs-repository.js';
import { finalFailure, runClosedFailure } from './failures.js';
import type { NodeDeps } from './node-step.js';
import { toErrorMessage } from './record.js';
import { toResultText } from './result-text.js';
import type { RunContext } from './run-context.js';
import { settledFacts, toFacts } from './run-node.js';

/** Returns what the node is given in this iteration; undefined where it is executed. */
export async function findGiven(
  { db, secretBox, contexts }: Pick<NodeDeps, 'db' | 'secretBox' | 'contexts'>,
  key: NodeKey,
): Promise<GivenResult | undefined> {
  const { isTest } = await contexts.load(key.runId);
  return isTest ? findGivenResult(db, secretBox, key) : undefined;
}

/**
 * Records the end that the node is given, and returns or throws as if it had been executed. Executed again, it keeps the end
 * that is recorded.
 */
export async function takeGiven(deps: NodeDeps, key: NodeKey, given: GivenResult): Promise<NodeFacts> {
  const { db, contexts, secretBox } = deps;
  const run = await contexts.take(key.runId);
  const node = run.node(key.nodeId);
  if (node === undefined) throw finalFailure('internal_error');
  const { source, isStale, outcome } = given;
  const row = { ...key, source, isStale, isOutput: node.kind === 'output' };
  if ('error' in outcome) {
    await recordGivenEnd(db, { ...row, ...failed(run, node.data, outcome.error, key) });
  } else {
    const [handle = 0, ...also] = outcome.handles;
    const { plain, result, resultEnc } = toResultText(outcome, key, { masker: run.masker, secretBox });
    const end = { ...row, ...SUCCEEDED, handle, alsoHandles: also.length > 0 ? also : null, result, resultEnc };
    if (await recordGivenEnd(db, end)) contexts.remember(key, plain);
  }
  const claim = await findNodeClaim(db, key);
  if (claim === undefined) throw runClosedFailure();
  return claim.status === 'succeed' ? toFacts(claim.handle, claim.alsoHandles) : settledFacts(claim);
}

const SUCCEEDED = { status: 'succeed', errorCode: null, errorMessage: null, isHandled: false } as const;

type Failed = Pick<
  GivenEnd,
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
  const isHandled = mayBeCaught(code) && (handle !== undefined || whatEveryNodeSays(data).onError !== 'fail');
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
