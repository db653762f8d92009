// Answers requests that are not valid HTTP, arrive too slowly, have too long a head, or ask for what this server does
// not do. The answer is an error of the usual shape, after which the connection is closed.
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ANSWER_HEADERS } from './middleware/answer-headers.js';

interface Refusal {
  status: `${number} ${string}`;
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
const NO_TUNNEL: Refusal = {
  status: '405 Method Not Allowed',
  detail: 'Method "CONNECT" not allowed.',
  code: 'method_not_allowed',
};

const NO_HOST: Refusal = {
  status: '400 Bad Request',
  detail: 'A request of HTTP/1.1 needs one Host header.',
  code: 'parse_error',
};
const UNKNOWN_EXPECTATION: Refusal = {
  status: '417 Expectation Failed',
  detail: 'Of all expectations only 100-continue is known.',
  code: 'expectation_failed',
};
/** The connection is destroyed this long after its refusal was written, even if the peer has not read the refusal. */
const LINGER_MS = 2_000;

/** `latest`: the answer to the last valid request of the connection. */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  latest: ServerResponse | undefined,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isOwed(latest)) socket.destroy();
  else refuse(socket, REFUSALS[error.code ?? ''] ?? MALFORMED);
}

/**
 * True if the client may read the next bytes on the connection as `answer` or a part of it: the answer to a complete
 * request is unfinished, or the answer to an incomplete request has started. An error written now would corrupt that
 * answer, or pass for it.
 */
function isOwed(answer: ServerResponse | undefined): boolean {
  if (answer === undefined) return false;
  // An answer without a socket waits for the answer to an earlier request of the connection.
  return answer.req.complete ? !answer.writableFinished : answer.headersSent || answer.socket === null;
}

/** CONNECT is refused because this service is not a proxy. */
export function answerConnect(socket: Duplex, latest: ServerResponse | undefined): void {
  if (isOwed(latest)) socket.destroy();
  else refuse(socket, NO_TUNNEL);
}

/** Returns true if the request was refused. HTTP/1.1 requires a Host, which proxies use for routing. */
export function answerMissingHost(response: ServerResponse): boolean {
  const { headers, httpVersion } = response.req;
  if (headers.host !== undefined || httpVersion !== '1.1') return false;
  refuseRequest(response, NO_HOST);
  return true;
}

export function answerUnknownExpectation(response: ServerResponse): void {
  refuseRequest(response, UNKNOWN_EXPECTATION);
}

function refuseRequest(response: ServerResponse, { status, detail, code }: Refusal): void {
  response.writeHead(Number.parseInt(status, 10), {
    'Content-Type': 'application/json; charset=utf-8',
    'X-Request-Id': randomUUID(),
    ...ANSWER_HEADERS,
    Connection: 'close',
  });
  response.end(JSON.stringify({ detail, code }));
}

function refuse(socket: Duplex, { status, detail, code }: Refusal): void {
  const body = JSON.stringify({ detail, code });
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${randomUUID()}`,
    ...Object.entries(ANSWER_HEADERS).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.on('error', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
}
