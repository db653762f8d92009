import { measureBaseline } from '../../db/conversations/baselines-repository.js';
import { measureDraft } from '../../db/workflows/drafts-repository.js';
import { measureVersion } from '../../db/workflows/versions-repository.js';
import { collectedBytes } from '../http/collect-body.js';
import { pathId } from '../http/path-ids.js';
import type { RouteDeclaration } from '../http/route.js';
import type { DispatchDeps } from './deps.js';
import type { RequestContext, Step } from './step.js';
import { isObject, ownValue } from '../../graph/json.js';
import { COPIES, TEXT_COPIES } from '../../memory/json-copies.js';
import { mostAddedBytes } from '../services/resolve-actions.js';

type DrawingForm = NonNullable<RouteDeclaration['readsDrawing']>;

type Reads = Pick<
  RouteDeclaration,
  'readsDrawing' | 'takesDrawing' | 'readsDraft' | 'readsBaseline' | 'resolvesActions'
>;

/** Returns true if the route reads a drawing, a draft or a baseline, or resolves actions. */
export function awaitsDrawing({ readsDrawing, readsDraft, readsBaseline, resolvesActions }: Reads): boolean {
  return (readsDrawing ?? readsDraft ?? readsBaseline ?? resolvesActions) !== undefined;
}

/**
 * Leases memory for the drawing, the draft and the baseline that the route reads, for a drawing in the body, and for
 * the facts that resolving actions adds. Waits in the fair queue of api/http/heavy-work.ts if the size that
 * `leaseMemory` returns is large.
 */
export function awaitDrawing(reads: Reads, deps: Pick<DispatchDeps, 'db' | 'heavyWork'>): Step {
  return async (ctx, next) => {
    const { access, signal, tenant } = ctx.state;
    const drawingBytes = await leaseMemory(reads, ctx, deps);
    await deps.heavyWork.run({ tenant, projectId: access?.projectId, signal }, drawingBytes, next);
  };
}

/** Returns the sum in bytes of the body, and of the drawing, the draft and the baseline that the route reads. */
async function leaseMemory(
  { readsDrawing, takesDrawing, readsDraft, readsBaseline, resolvesActions }: Reads,
  { params, state }: RequestContext,
  { db }: Pick<DispatchDeps, 'db'>,
): Promise<number> {
  const { access, caller, handlerInput, memory } = state;
  const workflowId = access?.workflowId ?? pathId.safeParse(params['id']).data;
  const bodyBytes = collectedBytes(memory);
  let sizeBytes = bodyBytes;
  let leasedBytes = memory.bytes;
  const add = (form: DrawingForm, bytes: number): void => {
    sizeBytes += bytes;
    leasedBytes += COPIES[form] * bytes;
  };
  if (takesDrawing === true) leasedBytes += COPIES.parsed * bodyBytes;
  if (workflowId !== undefined && readsDrawing !== undefined) {
    add(readsDrawing, await measureVersion(db, workflowId, pathId.safeParse(params['version']).data));
  }
  if (workflowId !== undefined && readsDraft !== undefined && caller !== undefined) {
    add(readsDraft, await measureDraft(db, { workflowId, userId: caller.userId }));
  }
  if (workflowId !== undefined && readsBaseline !== undefined && caller !== undefined) {
    add(readsBaseline, await measureBaseline(db, { workflowId, userId: caller.userId }));
  }
  const given = resolvesActions === undefined ? undefined : ownValue(handlerInput.body, resolvesActions);
  if (isObject(given)) leasedBytes += TEXT_COPIES * mostAddedBytes(given);
  await memory.resize(leasedBytes);
  return sizeBytes;
}
