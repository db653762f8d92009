// `npm run codec-server`: the codec server for Temporal's UI and CLI. docs/operate/security.md.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { parseEnvironment, required } from '../config/environment.js';
import { createLogger } from '../telemetry/logger.js';
import { createPayloadCodec } from '../config/payload-encryption.js';
import { onStopSignal } from '../config/stop-signals.js';
import { createCodecServer } from './codec-server/server.js';
import { exitWith } from './exit.js';

/** Connections that are still open after this time are closed, so that the process ends within 15 s of SIGTERM. */
const DRAIN_MS = 10_000;

async function main(): Promise<void> {
  const environment = parseEnvironment(process.env);
  const keys = required(environment, 'temporalPayloadKeys', 'TEMPORAL_PAYLOAD_KEY');
  const token = required(environment, 'codecServerToken', 'CODEC_SERVER_TOKEN');
  const logger = createLogger('codec-server', environment.logLevel);
  const uiUrl = environment.temporalUiUrl;
  const server = createCodecServer({
    codec: createPayloadCodec(keys),
    token,
    allowedOrigin: uiUrl === undefined ? undefined : new URL(uiUrl).origin,
    onError: (error) => logger.error({ err: error }, 'request failed'),
  });
  server.listen(environment.codecServerPort, environment.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  logger.info({ port }, 'listening');
  process.send?.({ type: 'ready', port });
  onStopSignal(() => {
    server.close(() => process.exit(0));
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), DRAIN_MS).unref();
  });
}

await main().catch(exitWith);
