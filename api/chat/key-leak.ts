// Whether an answer quotes a credential. Specification of the chat proxy: never the provider's key.
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { createMasker } from '../../graph/mask.js';

/** Shorter ones are placeholders of providers that ask for no key. */
const MIN_KEY_LENGTH = 6;
const MAX_LOOKED_THROUGH_BYTES = 8 * 1024 * 1024;

const DECODERS: Partial<Record<string, typeof gunzipSync>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** True as well for what cannot be looked through: an unknown encoding, or one that unfolds without end. */
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

/** In any encoding that is masked elsewhere. */
function holds(text: string, apiKey: string): boolean {
  return createMasker([apiKey]).text(text) !== text;
}
