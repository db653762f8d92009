import { createHash } from 'node:crypto';
import type { StoredFile } from '../../db/files/files-repository.js';
import type { Files } from '../../files/files.js';
import { ApiError } from '../http/errors.js';
import type { RouteResult } from '../http/route.js';
import { parseRange } from './byte-range.js';

/** A reader that reads nothing for this time is disconnected. */
const STALLED_MS = 60_000;

interface Asked {
  range: string | undefined;
  ifRange: string | undefined;
  ifNoneMatch: string | undefined;
  signal: AbortSignal;
}

/**
 * Answers with the bytes of a file, or with the requested range; 304 if the reader has the file already. Throws 416 for
 * a range outside of the file. The headers make a browser save the file under its name and not display it.
 */
export async function sendFile(files: Files, file: StoredFile, asked: Asked): Promise<RouteResult> {
  const etag = `"${createHash('sha256').update(file.sha256).digest('base64url').slice(0, 27)}"`;
  const headers = {
    ETag: etag,
    'Accept-Ranges': 'bytes',
    'Content-Type': file.type,
    'Content-Disposition': dispositionOf(file.name),
  };
  if (matches(asked.ifNoneMatch, etag)) return { status: 304, headers: { ETag: etag } };
  const isSame = asked.ifRange === undefined || asked.ifRange === etag;
  const range = isSame ? parseRange(asked.range, file.size) : undefined;
  if (range === 'unsatisfiable') {
    throw new ApiError(416, 'range_not_satisfiable', `The file has ${file.size} bytes.`, {
      headers: { 'Content-Range': `bytes */${file.size}` },
    });
  }
  const { start, end } = range ?? { start: 0, end: file.size };
  const partial = range && { 'Content-Range': `bytes ${start}-${end - 1}/${file.size}` };
  return {
    status: range === undefined ? 200 : 206,
    body: await files.read(file, { start, end }, asked.signal),
    headers: { ...headers, ...partial, 'Content-Length': String(end - start) },
    stalledMs: STALLED_MS,
  };
}

function matches(header: string | undefined, etag: string): boolean {
  return (header ?? '').split(',').some((tag) => [etag, `W/${etag}`, '*'].includes(tag.trim()));
}

/** The name in ASCII for old clients, and the exact name (RFC 6266). */
function dispositionOf(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const exact = encodeURIComponent(name).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
