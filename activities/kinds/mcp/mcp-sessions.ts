// Keeps sessions with MCP servers open, so that the nodes and tool calls of one run share them. This is only an
// optimisation, because activities are stateless and may run in any worker.
//
// A session is closed here and on the server a few seconds after its last use, or at once if a use has failed or many
// sessions are open. If this process dies, its sessions are lost: the next node opens a new one in its worker, and the
// server's own time-out ends the old ones.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { McpError } from '../../../outgoing/mcp-client.js';
import type { McpClient, McpServer, McpSession } from '../../../outgoing/mcp-types.js';
import { untilAborted } from '../../../outgoing/until-aborted.js';

export interface McpSessions {
  /**
   * Runs `act` with an open session of the run, or a new one. Tries again with another session, at most twice
   * (`MOST_SESSIONS`), if the server has executed nothing (`McpError.isBeforeSend`) and either has lost the session, or
   * the session was open before this call. Throws the errors of `connect` and `act`, or the reason of `signal`.
   */
  use<T>(runId: string, server: McpServer, signal: AbortSignal, act: (session: McpSession) => Promise<T>): Promise<T>;
}

interface Shared {
  session: Promise<McpSession>;
  isConnected: boolean;
  users: number;
  /** Aborts the attempt to connect. */
  stop: AbortController;
  idle: NodeJS.Timeout | undefined;
}

/** Longer than the usual pause between two nodes, and short enough not to burden servers. */
const IDLE_MS = 5_000;
const MAX_OPEN = 200;
/**
 * A call tries the open session of the run, then the run's next one, and then a private one. Without the private one,
 * other calls could use up each shared session of a server that drops sessions after a few calls.
 */
const MOST_SESSIONS = 3;
const REOPEN_PAUSE_MS = 500;

export function createMcpSessions(client: McpClient): McpSessions {
  const open = new Map<string, Shared>();

  function enter(key: string, server: McpServer): { shared: Shared; wasConnected: boolean } {
    let shared = open.get(key);
    if (shared === undefined) {
      const stop = new AbortController();
      shared = { session: client.connect(server, stop.signal), isConnected: false, users: 0, stop, idle: undefined };
      open.set(key, shared);
      void note(shared);
    }
    clearTimeout(shared.idle);
    shared.users += 1;
    return { shared, wasConnected: shared.isConnected };
  }

  function leave(key: string, shared: Shared): void {
    shared.users -= 1;
    if (shared.users > 0) return;
    const isKept = open.get(key) === shared && shared.isConnected && open.size <= MAX_OPEN;
    if (!isKept) return close(key, shared);
    shared.idle = setTimeout(() => close(key, shared), IDLE_MS).unref();
  }

  function discard(key: string, shared: Shared): void {
    if (open.get(key) === shared) open.delete(key);
  }

  function close(key: string, shared: Shared): void {
    discard(key, shared);
    shared.stop.abort();
    shared.session.then(
      (session) => session.close(),
      () => undefined,
    );
  }

  return {
    async use(runId, server, signal, act) {
      const keyOfRun = toKey(runId, server);
      for (let session = 1; ; session += 1) {
        const isOwn = session === MOST_SESSIONS;
        const key = isOwn ? `${keyOfRun} ${randomUUID()}` : keyOfRun;
        const { shared, wasConnected } = enter(key, server);
        try {
          return await act(await untilAborted(shared.session, signal));
        } catch (error) {
          discard(key, shared);
          const isStale = session === 1 && wasConnected;
          if (isOwn || signal.aborted || !mayReopen(error, isStale)) throw error;
        } finally {
          if (isOwn) discard(key, shared);
          leave(key, shared);
        }
        if (session > 1) await pause(REOPEN_PAUSE_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    },
  };
}

/** Never repeats anything that the server may have executed. */
function mayReopen(error: unknown, isStale: boolean): boolean {
  return error instanceof McpError && error.isBeforeSend && (isStale || error.isSessionLost);
}

async function note(shared: Shared): Promise<void> {
  try {
    await shared.session;
    shared.isConnected = true;
  } catch {
    // Ignored: every caller that waits for the session gets the error.
  }
}

/** The headers are part of the key, because the nodes of a run may use different credentials. */
function toKey(runId: string, { endpointUrl, transport, headers }: McpServer): string {
  return JSON.stringify([runId, endpointUrl, transport, headers]);
}
