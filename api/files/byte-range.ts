// Parses the header `Range` of requests for bytes (RFC 9110, section 14).
import type { ByteRange } from '../../files/sealed-copy.js';

/**
 * Returns the requested range; `unsatisfiable` if the file has none of its bytes. Undefined if the whole file must be
 * sent: there is no range, several ranges, or a malformed header.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) };
}
