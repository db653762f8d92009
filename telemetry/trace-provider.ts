// Builds OpenTelemetry's SDK. Loaded only while tracing is on.
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
  type IdGenerator,
} from '@opentelemetry/sdk-trace-base';
import { consumeWantedSpanId } from './spans.js';

/** The SDK reads samplers, limits, queue and endpoint from its standard variables. */
export function createProvider(serviceName: string, onExportError: () => void): BasicTracerProvider {
  setGlobalErrorHandler(onExportError);
  const resource = resourceFromAttributes({ 'service.name': serviceName }).merge(
    detectResources({ detectors: [envDetector] }),
  );
  const provider = new BasicTracerProvider({
    resource,
    idGenerator: createIdGenerator(),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  return provider;
}

function createIdGenerator(): IdGenerator {
  const random = new RandomIdGenerator();
  return {
    generateTraceId: random.generateTraceId,
    generateSpanId: () => consumeWantedSpanId() ?? random.generateSpanId(),
  };
}
