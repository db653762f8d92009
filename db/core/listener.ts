// A connection that listens to NOTIFY channels for the lifetime of the process.
import pg from 'pg';
import { Hosts } from './hosts.js';
import { sleep } from './sleep.js';

interface ListenerOptions {
  /** May list several hosts. The listener connects to one that is not a replica. */
  url: string;
  channels: readonly string[];
  applicationName: string;
  onMessage: (channel: string, payload: string) => void;
  /** Messages arrive from now on. Messages sent while there was no connection are lost. */
  onConnected: () => void;
  onLost: (error: unknown) => void;
}

export interface Listener {
  stop(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** A peer that vanished silently is noticed within this time plus `ANSWER_WITHIN_MS`. */
const CHECK_EVERY_MS = 10_000;
const ANSWER_WITHIN_MS = 5_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

/** Connects at once, and reconnects after randomly shortened pauses that double up to five seconds. */
export function startListener(options: ListenerOptions): Listener {
  const stopped = new AbortController();
  const loop = listenAgainAndAgain(options, stopped.signal);
  return {
    async stop() {
      stopped.abort();
      await loop;
    },
  };
}

async function listenAgainAndAgain(options: ListenerOptions, stopped: AbortSignal): Promise<void> {
  const hosts = new Hosts(options.url);
  let pauseMs = FIRST_PAUSE_MS;
  while (!stopped.aborted) {
    const { url } = hosts;
    let hasListened = false;
    try {
      await listen({ ...options, url }, stopped, () => {
        pauseMs = FIRST_PAUSE_MS;
        hasListened = true;
      });
    } catch (error) {
      if (!stopped.aborted) options.onLost(error);
    }
    // A replica refuses LISTEN.
    if (!hasListened) hosts.leave(url);
    await sleep(pauseMs * (0.5 + Math.random() / 2), stopped);
    pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
  }
}

/** Resolves when stopped; rejects when the connection is lost. */
async function listen(
  { url, channels, applicationName, onMessage, onConnected }: ListenerOptions,
  stopped: AbortSignal,
  onSuccess: () => void,
): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_WITHIN_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: CHECK_EVERY_MS,
  });
  const broken = new Promise<never>((_resolve, reject) => {
    client.on('error', reject);
    client.on('end', () => reject(new Error('the listening connection was closed')));
  });
  broken.catch(() => undefined);
  try {
    await client.connect();
    client.on('notification', ({ channel, payload }) => onMessage(channel, payload ?? ''));
    await client.query(channels.map((channel) => `LISTEN ${client.escapeIdentifier(channel)}`).join(';'));
    onSuccess();
    onConnected();
    while (!stopped.aborted) {
      await Promise.race([sleep(CHECK_EVERY_MS, stopped), broken]);
      if (!stopped.aborted) await client.query('SELECT');
    }
  } finally {
    // A broken connection does not answer the closing message either.
    await Promise.race([client.end().catch(() => undefined), sleep(FIRST_PAUSE_MS)]);
  }
}
