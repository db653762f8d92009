// What HTTP can carry as a header (RFC 9110, section 5). A value with a line break would start a header of its own.

export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}

export function isHeaderValue(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- exactly the characters that RFC 9110 forbids in a field value
  return !/[^\t\x20-\x7e\x80-\xff]/.test(text);
}

/** Which the connection sets, or which speak of this connection alone: a caller's value would contradict what is sent. */
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
