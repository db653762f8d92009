import { measureVersion } from '../../db/workflows/versions-repository.js';
import { collectedBytes } from '../http/collect-body.js';
import { pathId } from '../http/path-ids.js';
import type { RouteDeclaration } from '../http/route.js';
import type { DispatchDeps } from './deps.js';
import type { RequestContext, Step } from './step.js';
import { PARSED_COPIES, TEXT_COPIES } from '../../memory/json-copies.js';

type DrawingForm = NonNullable<RouteDeclaration['readsDrawing']>;

/**
 * Leases memory for the drawings that the route reads, and waits in the fair queue of api/http/heavy-work.ts if they are
 * large.
 */
export function awaitDrawing(
  { takesDrawing }: Pick<RouteDeclaration, 'takesDrawing'>,
  form: DrawingForm,
  deps: Pick<DispatchDeps, 'db' | 'heavyWork'>,
): Step {
  return async (ctx, next) => {
    const { access, memory, signal, tenant } = ctx.state;
    const sentBytes = takesDrawing === true ? collectedBytes(memory) : 0;
    const drawingBytes = await leaseMemory(form, sentBytes, ctx, deps);
    await deps.heavyWork.run({ tenant, projectId: access?.projectId, signal }, drawingBytes, next);
  };
}

const COPIES: Record<DrawingForm, number> = { text: TEXT_COPIES, parsed: PARSED_COPIES };

/** Returns the size of the drawings in bytes: that of the body, and that of the path if it names one. */
async function leaseMemory(
  form: DrawingForm,
  sentBytes: number,
  { params, state }: RequestContext,
  { db }: Pick<DispatchDeps, 'db'>,
): Promise<number> {
  const { access, admitted, memory } = state;
  const workflowId = admitted?.workflowId ?? access?.workflowId ?? pathId.safeParse(params['id']).data;
  const storedBytes =
    workflowId === undefined ? 0 : await measureVersion(db, workflowId, pathId.safeParse(params['version']).data);
  const sizeBytes = sentBytes + storedBytes;
  await memory.resize(memory.bytes + COPIES[form] * sizeBytes);
  return sizeBytes;
}
