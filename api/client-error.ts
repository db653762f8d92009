// Requests that are no HTTP, too slow or too long for a handler: answered in the shape of every other error, then cut.
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { ANSWER_HEADERS } from './middleware/answer-headers.js';

interface Refusal {
  status: string;
  detail: string;
  code: string;
}

const MALFORMED: Refusal = { status: '400 Bad Request', detail: 'The request is not valid HTTP.', code: 'parse_error' };
const REFUSALS: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    detail: 'The address and headers of a request may have 16 KiB.',
    code: 'headers_too_large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    detail: 'The request did not arrive in time.',
    code: 'request_timeout',
  },
};

export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, detail, code } = REFUSALS[error.code ?? ''] ?? MALFORMED;
  const body = JSON.stringify({ detail, code });
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${randomUUID()}`,
    ...Object.entries(ANSWER_HEADERS).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
