import getRawBody from 'raw-body';
import type { AppContext } from '../app-state.js';
import { bodyTooLarge, parseError, unsupportedMediaType } from '../errors.js';
import { checkFreeText, decodeText, parseJsonBody, parsePassingJson } from '../json-body.js';

export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** Reads the text of a body of any media type. */
export async function readTextBody(ctx: AppContext, limitBytes: number): Promise<string> {
  return toFreeText(await readBytes(ctx, limitBytes));
}

/** The text of a body that was read already. */
export function toFreeText(bytes: Buffer): string {
  const text = decodeText(bytes);
  checkFreeText(text);
  return text;
}

/** Reads the JSON of a body. An empty body counts as `{}` and needs no media type. */
export async function readJsonBody(ctx: AppContext, limitBytes: number, parse = parseJsonBody): Promise<unknown> {
  const bytes = await readBytes(ctx, limitBytes);
  if (bytes.length === 0) return {};
  checkMediaType(ctx);
  return parse(decodeText(bytes));
}

/** The same, with the bytes of a body that is passed on and not stored: no text in it is refused. */
export async function readVerbatimBody(
  ctx: AppContext,
  limitBytes: number,
): Promise<{ value: unknown; bytes: Buffer }> {
  const bytes = await readBytes(ctx, limitBytes);
  if (bytes.length === 0) return { value: {}, bytes };
  checkMediaType(ctx);
  return { value: parsePassingJson(decodeText(bytes)), bytes };
}

function checkMediaType(ctx: AppContext): void {
  const given = ctx.get('content-type');
  if (!isJson(given)) throw unsupportedMediaType(given);
}

/** Reads a body as it is. */
export async function readBytes(ctx: AppContext, limitBytes: number): Promise<Buffer> {
  const encoding = ctx.get('content-encoding').toLowerCase();
  if (encoding !== '' && encoding !== 'identity') throw unsupportedMediaType(encoding);
  acceptBody(ctx, limitBytes);
  try {
    return await getRawBody(ctx.req, { limit: limitBytes, length: ctx.get('content-length') || null });
  } catch (error) {
    if (!isTooLarge(error)) throw parseError('the body ended too early.', error);
    // The rest is read and dropped, so that the client reads the answer instead of a connection reset.
    ctx.req.resume();
    throw bodyTooLarge(limitBytes);
  }
}

/** Answers `Expect: 100-continue` now, unless the body is too large. */
function acceptBody({ req, res }: AppContext, limitBytes: number): void {
  if (req.headers.expect === undefined || req.httpVersion !== '1.1') return;
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) throw bodyTooLarge(limitBytes);
  res.removeHeader('Connection');
  res.writeContinue();
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'type' in error && error.type === 'entity.too.large';
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
