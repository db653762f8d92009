import type { Database } from '../../db/core/client.js';
import type { TrustedProxies } from '../access/visitor.js';
import type { RefusalLog } from './refusal-log.js';

export interface AuditDeps {
  db: Database;
  refusals: RefusalLog;
  signIn: { trustedProxies: TrustedProxies };
}
