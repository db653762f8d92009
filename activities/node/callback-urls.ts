// The addresses of callbacks, for the nodes that pass them on (docs/use/nodes.md).
import { randomBytes } from 'node:crypto';
import { callbackUrl } from '../../contract/callbacks.js';
import type { Db } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import { ensureToken } from '../../db/waits/callbacks-repository.js';
import { waitsForCallback } from '../../graph/nodes/wait.js';
import type { NodeKind } from '../../graph/kinds.js';
import type { NodeKey } from '../../graph/plan.js';

const TOKEN_BYTES = 32;

interface Nodes {
  node(id: string): { kind: NodeKind; data: Record<string, unknown> } | undefined;
}

export interface CallbackUrls {
  /** Returns the address of each of these nodes that waits for a callback. Repeated calls return the same address. */
  urlsOf(run: Nodes, iteration: Omit<NodeKey, 'nodeId'>, nodeIds: ReadonlySet<string>): Promise<Map<string, string>>;
}

export function createCallbackUrls(db: Db, secretBox: SecretBox, publicUrl: string): CallbackUrls {
  return {
    async urlsOf(run, iteration, nodeIds) {
      const urls = new Map<string, string>();
      for (const nodeId of nodeIds) {
        const node = run.node(nodeId);
        if (node === undefined || !waitsForCallback(node.kind, node.data)) continue;
        const token = randomBytes(TOKEN_BYTES).toString('base64url');
        const row = [iteration.runId, iteration.path, nodeId] as const;
        const fresh = { token, tokenEnc: secretBox.seal(token, 'callback-token', ...row) };
        const sealed = await ensureToken(db, { ...iteration, nodeId }, fresh);
        const known = secretBox.open(sealed, 'callback-token', ...row);
        urls.set(nodeId, callbackUrl(publicUrl, known));
      }
      return urls;
    },
  };
}
