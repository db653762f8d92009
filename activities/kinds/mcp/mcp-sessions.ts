// Sessions with MCP servers, kept for the nodes of one run that follow each other. Activities are stateless and may run in
// any worker, so this is only a short cut: a session stays open for some seconds after its last use and is then closed
// on the server too. When this process dies its sessions are lost, the next node connects anew wherever it runs, and the
// server forgets them in its own time. Nothing relies on a kept session.
import { McpError } from '../../../outgoing/mcp-client.js';
import type { McpClient, McpServer, McpSession } from '../../../outgoing/mcp-types.js';
import { untilAborted } from '../../../outgoing/until-aborted.js';

export interface McpSessions {
  /**
   * Runs `act` with a session, one that the run has open where there is one. Should that turn out to be gone before
   * anything was sent on it, `act` runs once more with a new one. Throws what `connect` and `act` throw.
   */
  use<T>(runId: string, server: McpServer, signal: AbortSignal, act: (session: McpSession) => Promise<T>): Promise<T>;
}

interface Shared {
  session: Promise<McpSession>;
  isConnected: boolean;
  users: number;
  /** Gives up connecting. */
  stop: AbortController;
  idle: NodeJS.Timeout | undefined;
}

/** Longer than the pause between two nodes, shorter than what a server minds. */
const IDLE_MS = 5_000;
const MAX_OPEN = 200;

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

  /** No new users. */
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
      const key = toKey(runId, server);
      for (let isFirst = true; ; isFirst = false) {
        const { shared, wasConnected } = enter(key, server);
        try {
          return await act(await untilAborted(shared.session, signal));
        } catch (error) {
          discard(key, shared);
          const isStale = wasConnected && error instanceof McpError && error.isBeforeSend;
          if (!isStale || !isFirst || signal.aborted) throw error;
        } finally {
          leave(key, shared);
        }
      }
    },
  };
}

async function note(shared: Shared): Promise<void> {
  try {
    await shared.session;
    shared.isConnected = true;
  } catch {
    // Whoever waits for the session gets the error.
  }
}

/** The headers count: they may hold another user's credentials. */
function toKey(runId: string, { endpointUrl, transport, headers }: McpServer): string {
  return JSON.stringify([runId, endpointUrl, transport, headers]);
}
