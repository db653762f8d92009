// A span around a request to somebody else's server, and the trace in its headers.
import { inSpan, isTracing, markFailed, SpanKind, withTraceparent } from '../config/spans.js';

interface TracedCall {
  method: string;
  url: URL;
  headers: Record<string, string>;
  /** The host may be known: it is what somebody has drawn or configured, not what was made of an input. */
  showHost?: boolean;
  /** Default true. Model providers are asked without it. */
  tellTrace?: boolean;
  attributes?: Record<string, string>;
}

/**
 * Until the answer begins. Method, status and host: the path and query of such a URL often are credentials. A node that
 * sets a `traceparent` of its own keeps it.
 */
export function tracedCall<T>(
  { method, url, headers, showHost = true, tellTrace = true, attributes }: TracedCall,
  statusOf: (answer: T) => number,
  send: (headers: Record<string, string>) => Promise<T>,
): Promise<T> {
  if (!isTracing()) return send(headers);
  const host = showHost ? { 'server.address': url.hostname, 'server.port': portOf(url) } : {};
  const options = { kind: SpanKind.CLIENT, attributes: { 'http.request.method': method, ...host, ...attributes } };
  return inSpan(method, options, async (span) => {
    const answer = await send(tellTrace ? withTraceparent(headers) : headers);
    const status = statusOf(answer);
    span?.setAttribute('http.response.status_code', status);
    if (span !== undefined && status >= 400) markFailed(span, String(status));
    return answer;
  });
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? ({ 'https:': 443 }[protocol] ?? 80) : Number(port);
}
