// Detects an answer that quotes a credential: the chat proxy never returns the provider's key.
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { createMasker } from '../../graph/mask.js';

/** Shorter keys are placeholders for providers that need none. */
const MIN_KEY_LENGTH = 6;
const MAX_LOOKED_THROUGH_BYTES = 8 * 1024 * 1024;

const DECODERS: Partial<Record<string, typeof gunzipSync>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** Also true for an answer that cannot be searched: its encoding is unknown, or it decompresses beyond the limit. */
export function mayHoldKey(bytes: Buffer, encoding: string | string[] | undefined, apiKey: string): boolean {
  if (apiKey.length < MIN_KEY_LENGTH || bytes.length === 0) return false;
  const name = String(encoding ?? 'identity').toLowerCase();
  if (name === 'identity') return bytes.length > MAX_LOOKED_THROUGH_BYTES || holds(bytes.toString(), apiKey);
  try {
    const text = DECODERS[name]?.(bytes, { maxOutputLength: MAX_LOOKED_THROUGH_BYTES });
    return text === undefined || holds(text.toString(), apiKey);
  } catch {
    return true;
  }
}

/** Searches for the key in every encoding that is also masked elsewhere. */
function holds(text: string, apiKey: string): boolean {
  return createMasker([apiKey]).text(text) !== text;
}
