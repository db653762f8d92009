// Wraps a request to an external server in a span, and sends the trace context in its headers.
import { inSpan, isTracing, markFailed, SpanKind, withTraceparent } from '../telemetry/spans.js';

interface TracedCall {
  method: string;
  url: URL;
  headers: Record<string, string>;
  /** Default true. False if the host comes from an input; the span then omits it. */
  showHost?: boolean;
  /** Default true. Model providers must not get the trace context. */
  sendsTraceparent?: boolean;
  attributes?: Record<string, string>;
}

/**
 * The span lasts until the answer starts. It holds method, status and host, but not the path and query, which are often
 * credentials. A `traceparent` that the node sets itself takes precedence.
 */
export function tracedCall<T>(
  { method, url, headers, showHost = true, sendsTraceparent = true, attributes }: TracedCall,
  statusOf: (answer: T) => number,
  send: (headers: Record<string, string>) => Promise<T>,
): Promise<T> {
  if (!isTracing()) return send(headers);
  const host = showHost ? { 'server.address': url.hostname, 'server.port': portOf(url) } : {};
  const options = { kind: SpanKind.CLIENT, attributes: { 'http.request.method': method, ...host, ...attributes } };
  return inSpan(method, options, async (span) => {
    const answer = await send(sendsTraceparent ? withTraceparent(headers) : headers);
    const status = statusOf(answer);
    span?.setAttribute('http.response.status_code', status);
    if (span !== undefined && status >= 400) markFailed(span, String(status));
    return answer;
  });
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? ({ 'https:': 443 }[protocol] ?? 80) : Number(port);
}
