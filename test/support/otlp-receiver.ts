// A receiver of OTLP over HTTP, like a collector: it decodes exported spans with the protocol's own message definitions
// (opentelemetry-proto, trace/v1; only the fields that the tests read).
import protobuf from 'protobufjs';
import { startHttpServer } from '../../cli/sandbox/http-server.js';
import { eventually } from '../../harness/timing/eventually.js';

const { root } = protobuf.parse(
  `syntax = "proto3";
  message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5;
    int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9; repeated Event events = 11; repeated Link links = 13; Status status = 15;
  }
  message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
  message Link { bytes trace_id = 1; bytes span_id = 2; }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }`,
);
const Request = root.lookupType('ExportTraceServiceRequest');

export interface ReceivedSpan {
  service: string;
  traceId: string;
  spanId: string;
  /** This is empty for the root of a trace. */
  parentSpanId: string;
  name: string;
  kind: 'internal' | 'server' | 'client' | 'other';
  startMs: number;
  endMs: number;
  attributes: Record<string, string | number | boolean>;
  /** The trace and span ids of its links. */
  links: string[];
  isError: boolean;
}

export interface OtlpReceiver {
  url: string;
  spans: ReceivedSpan[];
  /** The bodies of the requests, byte by byte. */
  bodies: Buffer[];
  /** Waits until the spans of the trace satisfy the condition, and returns them. */
  trace: (traceId: string, isComplete: (spans: ReceivedSpan[]) => boolean) => Promise<ReceivedSpan[]>;
  close: () => Promise<void>;
}

/** `hangs`: accepts everything and never answers. */
export async function startOtlpReceiver({ hangs = false } = {}): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  const server = await startHttpServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    bodies.push(body);
    if (hangs) return;
    if (incoming.url !== '/v1/traces' || incoming.headers['content-type'] !== 'application/x-protobuf') {
      response.writeHead(415).end();
      return;
    }
    spans.push(...decode(body));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  }, 0);
  return {
    url: server.url,
    spans,
    bodies,
    trace: (traceId, isComplete) =>
      eventually(
        () => {
          const found = spans.filter((span) => span.traceId === traceId);
          if (isComplete(found)) return found;
          throw new Error(`so far: ${JSON.stringify(found, undefined, 1)}`);
        },
        { timeoutMs: 40_000, intervalMs: 50 },
      ),
    close: () => server.close(),
  };
}

interface KeyValue {
  key: string;
  value: Record<string, string | number | boolean>;
}

interface DecodedSpan {
  traceId: Uint8Array;
  spanId: Uint8Array;
  parentSpanId: Uint8Array;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: KeyValue[];
  links: { traceId: Uint8Array; spanId: Uint8Array }[];
  status: { code: number } | null;
}

interface Decoded {
  resourceSpans: { resource: { attributes: KeyValue[] }; scopeSpans: { spans: DecodedSpan[] }[] }[];
}

const KINDS: Record<number, ReceivedSpan['kind']> = { 1: 'internal', 2: 'server', 3: 'client' };
const ERROR = 2;

function decode(body: Buffer): ReceivedSpan[] {
  const options = { longs: String, defaults: true, arrays: true, oneofs: false };
  const { resourceSpans } = Request.toObject(Request.decode(body), options) as Decoded;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(toAttributes(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => toSpan(service, span)));
  });
}

function toSpan(service: string, span: DecodedSpan): ReceivedSpan {
  return {
    service,
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parentSpanId: hex(span.parentSpanId),
    name: span.name,
    kind: KINDS[span.kind] ?? 'other',
    startMs: Number(span.startTimeUnixNano) / 1e6,
    endMs: Number(span.endTimeUnixNano) / 1e6,
    attributes: toAttributes(span.attributes),
    links: span.links.map((link) => `${hex(link.traceId)}/${hex(link.spanId)}`),
    isError: span.status?.code === ERROR,
  };
}

function toAttributes(pairs: KeyValue[]): ReceivedSpan['attributes'] {
  return Object.fromEntries(
    pairs.map(({ key, value }) => {
      const { stringValue, boolValue, intValue, doubleValue } = value;
      const number = intValue ?? doubleValue;
      return [key, stringValue ?? boolValue ?? (number === undefined ? '' : Number(number))];
    }),
  );
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
