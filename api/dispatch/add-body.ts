import type { Files } from '../../files/files.js';
import { parseFields } from '../http/field-errors.js';
import type { InTurn } from '../http/heavy-work.js';
import { parseExactJsonBody } from '../http/json-body.js';
import {
  MAX_BODY_BYTES,
  readBytes,
  readJsonBytes,
  readJsonBody,
  readTextBody,
  readVerbatimBody,
  type BodyBounds,
} from '../http/middleware/read-body.js';
import { readRunInput, type ReceivedInput } from '../runs/read-run-input.js';
import { discardUnlessTakenOver } from '../runs/uploaded-input.js';
import type { BodyFormat, DeclaredContext, RouteDeclaration } from '../http/route.js';
import { openBody } from '../http/stream-body.js';
import type { DispatchDeps } from './deps.js';
import type { RequestContext, RequestState, Step } from './step.js';

type BodyDeps = Pick<DispatchDeps, 'files' | 'heavyWork'>;

export function addBody(route: RouteDeclaration, deps: BodyDeps): Step {
  return async (ctx, next) => {
    const read = await readBody(route, ctx, deps);
    Object.assign(ctx.state.handlerInput, read);
    if (route.bodyFormat === 'run-input') await discardUnlessTakenOver(deps.files, read.body as ReceivedInput, next);
    else await next();
  };
}

type BodyFields = Pick<DeclaredContext, 'body' | 'bodyBytes' | 'bodyStream'>;

async function readBody(
  route: RouteDeclaration,
  ctx: RequestContext,
  { files, heavyWork }: BodyDeps,
): Promise<BodyFields> {
  const { body: schema, bodyFormat: format = 'json' } = route;
  if (format === 'stream') return { bodyStream: (limitBytes) => openBody(ctx, limitBytes) };
  const { tenant, access, signal, memory } = ctx.state;
  const inTurn: InTurn = (sizeBytes, work) =>
    heavyWork.run({ tenant, projectId: access?.projectId, signal }, sizeBytes, work);
  const bounds = { limitBytes: bodyLimitOf(route, ctx.state), lease: memory, inTurn };
  if (format === 'bytes') return { bodyBytes: await readBytes(ctx, bounds) };
  if (format === 'json-bytes') return { bodyBytes: await readJsonBytes(ctx, bounds) };
  if (format === 'verbatim') {
    const { value, bytes } = await readVerbatimBody(ctx, bounds);
    return { body: parseFields(schema!, value), bodyBytes: bytes };
  }
  return { body: parseFields(schema!, await readBodyOfFormat(format, ctx, bounds, files)) };
}

/** Limits the body of an open route without `admit`, whose sender is unknown. */
const MAX_OPEN_BODY_BYTES = 64 * 1024;

function bodyLimitOf(
  { auth, maxBodyBytes: limitBytes = MAX_BODY_BYTES }: RouteDeclaration,
  state: RequestState,
): number {
  const { admitted } = state;
  const isUnknown = auth === 'open' && admitted === undefined;
  return Math.min(limitBytes, admitted?.maxBodyBytes ?? (isUnknown ? MAX_OPEN_BODY_BYTES : limitBytes));
}

function readBodyOfFormat(
  format: Exclude<BodyFormat, 'bytes' | 'json-bytes' | 'stream' | 'verbatim'>,
  ctx: RequestContext,
  bounds: BodyBounds,
  files: Files,
): Promise<unknown> {
  if (format === 'run-input') return readRunInput(ctx, bounds, files);
  if (format === 'exact') return readJsonBody(ctx, bounds, parseExactJsonBody);
  return format === 'text' ? readTextBody(ctx, bounds) : readJsonBody(ctx, bounds);
}
