import type { Environment } from '../../config/environment.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { CountedKey, CountedWindow, TokenSubject } from '../../db/access/rate-limits-repository.js';
import type { RequestCounter } from './request-counter.js';
import type { SessionVerifier } from './session-tokens.js';

export interface AccessDeps {
  db: Database;
  secretBox: SecretBox;
  keyCounter: RequestCounter<string, CountedKey>;
  sessionCounter: RequestCounter<TokenSubject, CountedWindow>;
  verifySession: SessionVerifier;
  config: Pick<Environment, 'defaultRateLimit' | 'sessionRateLimit'> & {
    /** Tokens accepted on execution-update; more than one while a token is rotated. An empty list admits no caller. */
    internalTokens: string[];
  };
}
