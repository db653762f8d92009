// Validates names and values of HTTP headers (RFC 9110, section 5), and decodes received values. A line break in a
// value would start another header.
import { isUtf8 } from 'node:buffer';

export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}

export function isHeaderValue(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- exactly the characters that RFC 9110 forbids in a field value
  return !/[^\t\x20-\x7e\x80-\xff]/.test(text);
}

/**
 * White space at either end is not part of a value in HTTP. A secret that was read from a
 * file often ends in a line break.
 */
export function trimHeaderValue(text: string): string {
  return text.replace(/^[\t\r\n ]+|[\t\r\n ]+$/g, '');
}

/** Returns the text of a value whose bytes were read as latin-1. Bytes that are valid UTF-8 are decoded as UTF-8. */
export function headerText(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : value;
}

/**
 * Headers that the HTTP client sets or refuses, or that apply to one connection only. A caller's value would contradict
 * the request that is sent.
 */
const CONNECTION_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export function isConnectionHeader(name: string): boolean {
  return CONNECTION_HEADERS.has(name.toLowerCase());
}
