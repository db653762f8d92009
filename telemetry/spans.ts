// OpenTelemetry spans for code that a trace should show. While tracing is off (the default), a function here costs one
// `if`, or its callers do not call it.
//
// A span may contain the same data as a log: ids, codes, routes, host names; never a path, query, header, body or
// label. tracing.ts enables tracing (docs/operate/operations.md, "Logs and traces").
import {
  context,
  createContextKey,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Link,
  type Span,
} from '@opentelemetry/api';

export { SpanKind, type Context };

let isOn = false;

/** Called only by tracing.ts. */
export function setTracing(on: boolean): void {
  isOn = on;
}

export function isTracing(): boolean {
  return isOn;
}

interface SpanOptions {
  kind?: SpanKind;
  attributes?: Attributes;
  /** Defaults to the active span. */
  parent?: Context;
  links?: Link[];
  startTime?: Date;
  /** Set if another process must be able to name the span. Random by default. */
  spanId?: string;
}

let wantedSpanId: string | undefined;

/** The SDK calls this once per span, while the span is created. */
export function consumeWantedSpanId(): string | undefined {
  const wanted = wantedSpanId;
  wantedSpanId = undefined;
  return wanted;
}

const TRACER = 'workflow-automation-service';
const maskKey = createContextKey('hides secrets');
type Mask = (text: string) => string;
const STOPPED = new Set(['CancelledFailure', 'AbortError']);

/** Applies `mask` to the initial string attributes of all spans that start while `act` runs. */
export function withMask<T>(mask: Mask, act: () => T): T {
  return isOn ? context.with(context.active().setValue(maskKey, mask), act) : act();
}

export function startSpan(name: string, { parent = context.active(), spanId, ...options }: SpanOptions): Span {
  const mask = context.active().getValue(maskKey) as Mask | undefined;
  const attributes = mask === undefined ? options.attributes : masked(options.attributes ?? {}, mask);
  wantedSpanId = spanId;
  return trace.getTracer(TRACER).startSpan(name, { ...options, ...(attributes && { attributes }) }, parent);
}

/** Runs `act` within a span that ends with it. A failure is recorded by its code, never by its message. */
export async function inSpan<T>(name: string, options: SpanOptions, act: (span?: Span) => Promise<T>): Promise<T> {
  if (!isOn) return act();
  const span = startSpan(name, options);
  try {
    return await context.with(trace.setSpan(context.active(), span), () => act(span));
  } catch (error) {
    // The work was stopped from outside, for example because its run was cancelled or the caller closed the connection,
    // so this is no failure.
    if (error instanceof Error && STOPPED.has(error.name)) span.setAttribute('cancelled', true);
    else markFailed(span, codeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

export function markFailed(span: Span, code: string): void {
  span.setAttribute('error.type', code).setStatus({ code: SpanStatusCode.ERROR });
}

/**
 * Returns the active span as W3C `traceparent`; undefined without one, or while tracing is off. `tracestate` and
 * baggage are never passed on.
 */
export function currentTraceparent(): string | undefined {
  if (!isOn) return undefined;
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** Returns the context of another process's `traceparent`; the root context if it is missing or malformed. */
export function contextOf(traceparent: string | null | undefined): Context {
  return traceparent ? propagation.extract(ROOT_CONTEXT, { traceparent }) : ROOT_CONTEXT;
}

/** Adds the active trace to `headers`, unless the caller has set a trace there. */
export function withTraceparent(headers: Record<string, string>): Record<string, string> {
  const traceparent = currentTraceparent();
  const hasOwn = Object.keys(headers).some((name) => name.toLowerCase() === 'traceparent');
  return traceparent === undefined || hasOwn ? headers : { ...headers, traceparent };
}

/**
 * Returns the context of the run's span, as a parent or for a link. The id of the span is derived from the run's id, so
 * that any process can name the span. Undefined if `traceparent`, as stored with the run, is missing or malformed.
 */
export function runContext(runId: string, traceparent: string | null | undefined): Context | undefined {
  const request = trace.getSpanContext(contextOf(traceparent));
  if (request === undefined) return undefined;
  const { traceId, traceFlags } = request;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, traceFlags, spanId: runSpanId(runId), isRemote: true });
}

/**
 * Returns the first half of the run's UUID. The half has the length of a span id and contains the UUID's version, so it
 * is never zero, which would be no valid id.
 */
export function runSpanId(runId: string): string {
  return runId.replaceAll('-', '').slice(0, 16).toLowerCase();
}

export function linkActiveSpan(to: Context | undefined): void {
  const target = to && trace.getSpanContext(to);
  if (target !== undefined) trace.getActiveSpan()?.addLink({ context: target });
}

export function annotateActiveSpan(attributes: Attributes): void {
  if (isOn) trace.getActiveSpan()?.setAttributes(attributes);
}

/** Returns the ids of the active span; undefined if there is none, or if it is not sampled. */
export function activeTraceIds(): { trace_id: string; span_id: string } | undefined {
  const active = isOn ? trace.getActiveSpan()?.spanContext() : undefined;
  if (active === undefined || (active.traceFlags & TraceFlags.SAMPLED) === 0) return undefined;
  return { trace_id: active.traceId, span_id: active.spanId };
}

function masked(attributes: Attributes, mask: Mask): Attributes {
  const entries = Object.entries(attributes);
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'string' ? mask(value) : value]));
}

/**
 * Returns a code without free text: the `type` of an `ApplicationFailure`, the `code` or else the `name` of any other
 * error, and `error` if that is not a single word.
 */
function codeOf(error: unknown): string {
  const { type, code, name } = (error ?? {}) as { type?: unknown; code?: unknown; name?: unknown };
  const words = name === 'ApplicationFailure' ? [type] : [code, name];
  return (
    (words.find((word) => typeof word === 'string' && /^\w[\w.-]{0,59}$/.test(word)) as string | undefined) ?? 'error'
  );
}
