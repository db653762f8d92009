// Enables OpenTelemetry if its standard variables request traces. Its SDK is loaded only then.
import type { Environment } from '../config/environment.js';
import type { Logger } from './logger.js';
import { setTracing } from './spans.js';

interface Tracing {
  /** Sends the remaining spans, and gives up after two seconds; never rejects. */
  shutdown(): Promise<void>;
}

/** Short, because a process must end within 15 s of SIGTERM, and its work may take most of that time to end. */
const FLUSH_MS = 2_000;
const COMPLAIN_EVERY_MS = 60_000;
const OFF: Tracing = { shutdown: () => Promise.resolve() };

/**
 * A slow or unavailable collector fails nothing, and delays nothing but `shutdown`. Ended spans wait in a queue of
 * fixed length (`OTEL_BSP_MAX_QUEUE_SIZE`), and spans that do not fit are dropped.
 */
export async function startTracing(
  service: 'api' | 'worker',
  { isTracing }: Pick<Environment, 'isTracing'>,
  logger: Logger,
): Promise<Tracing> {
  if (!isTracing) return OFF;
  const { createProvider } = await import('./trace-provider.js');
  const provider = createProvider(`workflow-${service}`, complainer(logger));
  setTracing(true);
  return {
    async shutdown() {
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, FLUSH_MS)));
      await Promise.race([provider.shutdown().catch(() => undefined), patience]);
      clearTimeout(timer);
      setTracing(false);
    },
  };
}

/**
 * Logs at most one line a minute, because an unavailable collector fails every batch. The line omits the error's
 * message, which may contain an address.
 */
function complainer(logger: Logger): () => void {
  let quietUntil = 0;
  return () => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + COMPLAIN_EVERY_MS;
    logger.warn('spans could not be exported; they are dropped');
  };
}
