// Switches OpenTelemetry's traces on where its standard variables ask for it. The packages are loaded only then.
import type { Environment } from './environment.js';
import type { Logger } from './logger.js';
import { setTracing } from './spans.js';

export interface Tracing {
  /** Sends what is left, within two seconds; never rejects. */
  shutdown(): Promise<void>;
}

/** Within what SIGTERM leaves after draining. */
const FLUSH_MS = 2_000;
const COMPLAIN_EVERY_MS = 60_000;
const OFF: Tracing = { shutdown: () => Promise.resolve() };

/**
 * A collector that is slow or away delays and fails nothing: ended spans wait in a queue of fixed length
 * (`OTEL_BSP_MAX_QUEUE_SIZE`), and what does not fit is dropped.
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

/** One line a minute: a collector that is away fails every batch. Without the error's words, which may name an address. */
function complainer(logger: Logger): () => void {
  let quietUntil = 0;
  return () => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + COMPLAIN_EVERY_MS;
    logger.warn('spans could not be exported; they are dropped');
  };
}
