// What the kinds that wait have in common.
import type { WaitFacts, WaitReason } from '../../contract/activities.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { CallbackUrls } from '../node/callback-urls.js';
import type { RunContexts } from '../node/run-context.js';

export interface WaitDeps {
  db: Database;
  secretBox: SecretBox;
  contexts: RunContexts;
  callbacks: CallbackUrls;
}

/** Of a node that an earlier attempt has ended: the second step finds how. */
export function overWait(reason: WaitReason): WaitFacts {
  return { for: reason, untilMs: 0, isOver: true };
}
