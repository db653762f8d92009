import { measureVersion } from '../../db/workflows/versions-repository.js';
import { pathId } from '../http/path-ids.js';
import type { RouteDeclaration } from '../http/route.js';
import type { DispatchDeps } from './deps.js';
import type { RequestContext, Step } from './step.js';
import { PARSED_COPIES, TEXT_COPIES } from '../../memory/json-copies.js';

type DrawingForm = NonNullable<RouteDeclaration['readsDrawing']>;

/** Leases memory for the drawing that the route reads, and waits in the fair queue of api/http/heavy-work.ts if it is large. */
export function awaitDrawing(form: DrawingForm, deps: Pick<DispatchDeps, 'db' | 'heavyWork'>): Step {
  return async (ctx, next) => {
    const { access, signal, tenant } = ctx.state;
    const drawingBytes = await leaseMemory(form, ctx, deps);
    await deps.heavyWork.run({ tenant, projectId: access?.projectId, signal }, drawingBytes, next);
  };
}

const COPIES: Record<DrawingForm, number> = { text: TEXT_COPIES, parsed: PARSED_COPIES };

/** Returns the size of the drawing in bytes; 0 if the path names none. */
async function leaseMemory(
  form: DrawingForm,
  { params, state }: RequestContext,
  { db }: Pick<DispatchDeps, 'db'>,
): Promise<number> {
  const { access, admitted, memory } = state;
  const workflowId = admitted?.workflowId ?? access?.workflowId ?? pathId.safeParse(params['id']).data;
  if (workflowId === undefined) return 0;
  const sizeBytes = await measureVersion(db, workflowId, pathId.safeParse(params['version']).data);
  await memory.resize(memory.bytes + COPIES[form] * sizeBytes);
  return sizeBytes;
}
