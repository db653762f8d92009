// The dependencies and return values that the kinds that wait share.
import type { WaitFacts, WaitReason } from '../../contract/activities.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { OpenWait } from '../../db/waits/waits-repository.js';
import type { CallbackUrls } from '../node/callback-urls.js';
import { runClosedFailure } from '../node/failures.js';
import type { RunContexts } from '../node/run-context.js';

export interface WaitDeps {
  db: Database;
  secretBox: SecretBox;
  contexts: RunContexts;
  callbacks: CallbackUrls;
}

/**
 * A wait may be over when it starts, for example because a callback came earlier; it then needs no timer.
 * Throws if the run is not open.
 */
export function toWaitFacts(wait: OpenWait | undefined, nowMs: number): WaitFacts {
  if (wait === undefined) throw runClosedFailure();
  const isOver = wait.isAnswered || wait.untilMs <= nowMs;
  return { for: wait.kind, untilMs: wait.untilMs, ...(isOver && { isOver }) };
}

/** An earlier attempt has ended the node; the second step finds that end. */
export function endedWait(reason: WaitReason): WaitFacts {
  return { for: reason, untilMs: 0, isOver: true };
}
