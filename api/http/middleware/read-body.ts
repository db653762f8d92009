import type { ByteLease } from '../../../memory/byte-budget.js';
import type { AppContext } from '../app-state.js';
import { collectBody } from '../collect-body.js';
import { bodyTooLarge, unsupportedMediaType } from '../errors.js';
import type { InTurn } from '../heavy-work.js';
import { checkFreeText, decodeJson, decodeText, parseJsonBody, parseBoundedJson } from '../json-body.js';

export const MAX_BODY_BYTES = 10 * 1024 * 1024;

export interface BodyBounds {
  limitBytes: number;
  lease: ByteLease;
  /** Parsing occupies the event loop, so large bodies are parsed one after the other. */
  inTurn: InTurn;
}

/** Accepts any media type. */
export async function readTextBody(ctx: AppContext, bounds: BodyBounds): Promise<string> {
  const bytes = await readBytes(ctx, bounds);
  return bounds.inTurn(bytes.length, () => toFreeText(bytes));
}

export function toFreeText(bytes: Buffer): string {
  const text = decodeText(bytes);
  checkFreeText(text);
  return text;
}

/** Reads the JSON of a body. An empty body counts as `{}` and needs no media type. */
export async function readJsonBody(ctx: AppContext, bounds: BodyBounds, parse = parseJsonBody): Promise<unknown> {
  const bytes = await readBytes(ctx, bounds);
  if (bytes.length === 0) return {};
  checkMediaType(ctx);
  return bounds.inTurn(bytes.length, () => parse(decodeJson(bytes)));
}

/**
 * Reads a JSON body together with its bytes, for routes that pass it on without storing it. Unlike `readJsonBody`,
 * accepts text that cannot be stored and numbers that a double cannot keep. An empty body counts as `{}` and needs no
 * media type.
 */
export async function readVerbatimBody(
  ctx: AppContext,
  bounds: BodyBounds,
): Promise<{ value: unknown; bytes: Buffer }> {
  const bytes = await readBytes(ctx, bounds);
  if (bytes.length === 0) return { value: {}, bytes };
  checkMediaType(ctx);
  return { value: await bounds.inTurn(bytes.length, () => parseBoundedJson(decodeJson(bytes))), bytes };
}

/** Reads a JSON body that another process parses. An empty body needs no media type. */
export async function readJsonBytes(ctx: AppContext, bounds: BodyBounds): Promise<Buffer> {
  const bytes = await readBytes(ctx, bounds);
  if (bytes.length > 0) checkMediaType(ctx);
  return bytes;
}

function checkMediaType(ctx: AppContext): void {
  const contentType = ctx.get('content-type');
  if (!isJson(contentType)) throw unsupportedMediaType(contentType);
}

/** Refuses compressed bodies with 415, and bodies above the limit with 413. */
export async function readBytes(ctx: AppContext, bounds: BodyBounds): Promise<Buffer> {
  const encoding = ctx.get('content-encoding').toLowerCase();
  if (encoding !== '' && encoding !== 'identity') throw unsupportedMediaType(encoding);
  const { limitBytes } = bounds;
  const isTooLarge = Number(ctx.get('content-length')) > limitBytes;
  if (!isTooLarge) askForBody(ctx);
  else if (ctx.req.headers.expect === undefined) ctx.req.resume();
  if (isTooLarge) throw bodyTooLarge(limitBytes);
  return collectBody(ctx.req, bounds);
}

/** Answers `Expect: 100-continue`. */
export function askForBody({ req, res }: AppContext): void {
  if (req.headers.expect === undefined || req.httpVersion !== '1.1') return;
  res.removeHeader('Connection');
  res.writeContinue();
}

function isJson(contentType: string): boolean {
  const [mediaType = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (charset !== undefined && !['utf-8', 'utf8', '"utf-8"'].includes(charset)) return false;
  return mediaType === 'application/json' || /^application\/[\w.-]+\+json$/.test(mediaType);
}
