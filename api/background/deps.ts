import type { Environment } from '../../config/environment.js';
import type { Files } from '../../files/files.js';
import type { ApprovalDeps } from '../approvals/deps.js';
import type { ConversationDeps } from '../conversations/deps.js';
import type { Metrics } from '../observability/metrics.js';

export type BackgroundDeps = ApprovalDeps &
  ConversationDeps & {
    files: Files;
    metrics: Pick<Metrics, 'reconciler' | 'retention'>;
    config: Pick<Environment, 'maxProjectBytes' | 'resultRetentionDays'>;
  };
