// The name of a file in a `Content-Disposition` (RFC 6266, RFC 8187).
import { TextDecoder } from '@exodus/bytes/encoding.js';
import { knownEncoding } from './text-of-bytes.js';

const PARAMETER = /(?:^|;)\s*([^\s=;"]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/g;

/** Returns the name in `filename*`, which declares its encoding, else the one in `filename`. */
export function dispositionName(disposition: string | undefined): string | undefined {
  const values = new Map<string, string>();
  for (const [, name, value] of (disposition ?? '').matchAll(PARAMETER)) {
    const key = name!.toLowerCase();
    if (!values.has(key)) values.set(key, unquoted(value!.trim()));
  }
  return extendedText(values.get('filename*')) ?? values.get('filename');
}

/** Many servers quote values that RFC 8187 does not allow to be quoted. */
function unquoted(value: string): string {
  return /^".*"$/s.test(value) ? value.slice(1, -1).replace(/\\(.)/gs, '$1') : value;
}

/** Reads `iso-8859-1'de'%e4`. Returns undefined for other text. */
function extendedText(value: string | undefined): string | undefined {
  const [, label, encoded] = /^([^']*)'[^']*'(.+)$/s.exec(value ?? '') ?? [];
  const encoding = knownEncoding(label);
  if (encoding === undefined || encoded === undefined) return undefined;
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    return encoded.replace(/(?:%[0-9a-f]{2})+/gi, (run) => decoder.decode(Buffer.from(run.replaceAll('%', ''), 'hex')));
  } catch {
    return undefined;
  }
}
