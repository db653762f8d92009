import type { Counter } from 'prom-client';
import type { Environment } from '../../config/environment.js';
import type { Database } from '../../db/core/client.js';
import type { SignIn } from './sign-in.js';

export interface SessionDeps {
  db: Database;
  signIn: SignIn;
  metrics: { signIns: Counter<'method' | 'outcome'> };
  config: Pick<Environment, 'publicUrl'>;
}
