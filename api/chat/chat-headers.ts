// The headers that pass the chat proxy. They are allow lists, so that unforeseen headers are dropped: credentials,
// cookies, hop-by-hop headers, addresses of inner proxies, names of the platform's account.
import type { IncomingHttpHeaders } from 'node:http';

// `idempotency-key` and `openai-organization` are excluded: callers share the platform's key, so one caller could
// receive another's answer or choose the account that is charged.
const TO_PROVIDER = /^(?:accept|accept-encoding|accept-language|content-type|user-agent|openai-beta|x-stainless-.*)$/;

const TO_CALLER = new RegExp(
  '^(?:content-type|content-encoding|content-language|content-disposition|cache-control|retry-after|retry-after-ms' +
    '|x-should-retry|openai-model|openai-version|openai-processing-ms' +
    '|x-ratelimit-(?:limit|remaining|reset)-(?:requests|tokens))$',
);

export function toProviderHeaders(given: IncomingHttpHeaders): Record<string, string> {
  const { 'accept-encoding': accepted, ...passing } = select(given, TO_PROVIDER);
  return { ...passing, ...(accepted !== undefined && { 'accept-encoding': toReadable(accepted) }) };
}

const READABLE = /^(?:gzip|x-gzip|deflate|br|identity)\s*(?:;|$)/i;

/** Those of the encodings in which the usage can be read along. */
function toReadable(accepted: string): string {
  const encodings = accepted.split(',').map((encoding) => encoding.trim());
  return encodings.filter((encoding) => READABLE.test(encoding)).join(', ') || 'identity';
}

export function toCallerHeaders(given: IncomingHttpHeaders): Record<string, string> {
  return select(given, TO_CALLER);
}

function select(headers: IncomingHttpHeaders, passing: RegExp): Record<string, string> {
  const selected: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && passing.test(name)) selected[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return selected;
}
