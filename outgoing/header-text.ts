// Checks what HTTP can carry as a header (RFC 9110, section 5), and reads what others have put into one. A line break in a
// value would start another header.
import { isUtf8 } from 'node:buffer';

export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}

export function isHeaderValue(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- exactly the characters that RFC 9110 forbids in a field value
  return !/[^\t\x20-\x7e\x80-\xff]/.test(text);
}

/** HTTP takes white space at either end of a value for no part of it. A secret that is read from a file ends in a line end. */
export function trimHeaderValue(text: string): string {
  return text.replace(/^[\t\r\n ]+|[\t\r\n ]+$/g, '');
}

/** Returns the text of a value whose bytes were read as latin-1. Bytes that are valid UTF-8 are UTF-8. */
export function headerText(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : value;
}

/**
 * Headers that the connection sets, or that apply to one connection only. A caller's value would contradict what is
 * sent.
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
