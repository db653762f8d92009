import type { RunEndDeps } from '../../acceptance/announce-run-end.js';
import type { ModelProviders } from '../../config/model-providers.js';
import type { Files } from '../../files/files.js';
import type { ByteBudget } from '../../memory/byte-budget.js';
import type { HeavyWork } from '../http/heavy-work.js';
import type { RunHub } from '../live/run-hub.js';
import type { SharedReads } from '../live/shared-reads.js';
import type { AcceptDeps } from '../runs/deps.js';
import type { ChatMeter } from './chat-meter.js';
import type { ChatUpstream } from './chat-upstream.js';

export type ChatDeps = AcceptDeps &
  RunEndDeps & {
    chatMeter: ChatMeter;
    chatUpstream: ChatUpstream;
    files: Files;
    memory: ByteBudget;
    models: ModelProviders;
    runHub: RunHub;
    sharedReads: SharedReads;
    heavyWork: HeavyWork;
  };
