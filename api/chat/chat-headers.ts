// Which headers pass the chat proxy. Lists of what may, so that what nobody thought of stays behind: credentials, cookies,
// hop-by-hop headers, addresses of inner proxies, names of the platform's account.
import type { IncomingHttpHeaders } from 'node:http';

// Not `idempotency-key` and `openai-organization`: callers share the platform's key, and must neither meet each other's
// answers nor choose what is charged.
const TO_PROVIDER = /^(?:accept|accept-encoding|accept-language|content-type|user-agent|openai-beta|x-stainless-.*)$/;

const TO_CALLER = new RegExp(
  '^(?:content-type|content-encoding|content-language|content-disposition|cache-control|retry-after|retry-after-ms' +
    '|x-should-retry|openai-model|openai-version|openai-processing-ms' +
    '|x-ratelimit-(?:limit|remaining|reset)-(?:requests|tokens))$',
);

export function toProviderHeaders(given: IncomingHttpHeaders): Record<string, string> {
  return select(given, TO_PROVIDER);
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
