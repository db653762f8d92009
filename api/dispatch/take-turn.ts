import { measureVersion } from '../../db/workflows/versions-repository.js';
import { pathId } from '../http/path-ids.js';
import type { RouteDeclaration } from '../http/route.js';
import type { DispatchDeps } from './deps.js';
import type { RequestContext, Step } from './step.js';

type DrawingForm = NonNullable<RouteDeclaration['readsDrawing']>;

/** Takes the memory of the drawing that the route reads, and waits for the turn of a large one. */
export function takeTurn(form: DrawingForm, deps: Pick<DispatchDeps, 'db' | 'turns'>): Step {
  return async (ctx, next) => {
    const { access, signal, tenant } = ctx.state;
    const drawingBytes = await takeMemory(form, ctx, deps);
    await deps.turns.take({ tenant, projectId: access?.projectId, signal }, drawingBytes, next);
  };
}

/** Bytes of memory per byte of a drawing: as the driver holds it, as text and as bytes; or as small objects, too. */
const DRAWING_COPIES = { text: 4, parsed: 8 };

/** Takes the memory of the drawing, and returns its size; 0 where the path names none. */
async function takeMemory(
  form: DrawingForm,
  { params, state }: RequestContext,
  { db }: Pick<DispatchDeps, 'db'>,
): Promise<number> {
  const { access, admitted, memory } = state;
  const workflowId = admitted?.workflowId ?? access?.workflowId ?? pathId.safeParse(params['id']).data;
  if (workflowId === undefined) return 0;
  const sizeBytes = await measureVersion(db, workflowId, pathId.safeParse(params['version']).data);
  await memory.resize(memory.bytes + DRAWING_COPIES[form] * sizeBytes);
  return sizeBytes;
}
