// The definition of an attack. The files in `test/hostile/attacks/` declare attacks, and
// `test/hostile/harness/` does the rest.
import type { Tenant } from './tenant.js';

export interface Attack {
  /** For `--only`, and for the table. */
  name: string;
  /** A description of what the attackers do. */
  title: string;
  /** The limit because of which the victim does not notice it. */
  heldBy: string;
  /** So many accounts act at once, each with a user, a project and a key of its own; 1 by default. */
  tenants?: number;
  /** Whether it belongs to the short form too. */
  isShort?: boolean;
  /** Runs before the victim is measured. */
  prepare?: Preparation;
  /** Goes on until the tenant's signal is aborted, or ends earlier; `prepared` is what `prepare` gave. */
  act: (tenant: Tenant, prepared: Prepared) => Promise<unknown>;
}

/** The facts that the attacks of a preparation need; each preparation gives some of them. */
export interface Prepared {
  project: number;
  workflow: number;
  run: string;
  slug: string;
  /** Paths of hooks. */
  open: string;
  signed: string;
}

/** Attacks that name the same preparation share what it made, and its accounts. */
export interface Preparation {
  name: string;
  make: (tenant: Tenant) => Promise<Partial<Prepared>>;
}

/** An account as an attacker's process is told of it. */
export interface AccountAt {
  apiUrl: string;
  apiKey: string;
  sessionToken: string;
  projectId: number;
}

/** How often each outcome was seen: a status, or the code of an error. */
export type Outcomes = Record<string, number>;

export type ToAttacker =
  | { type: 'prepare'; attack: string; accounts: AccountAt[] }
  | { type: 'act'; attack: string; accounts: AccountAt[]; prepared: Partial<Prepared>[] }
  | { type: 'count' };

export type FromAttacker =
  | { type: 'ready' }
  | { type: 'prepared'; prepared: Partial<Prepared>[] }
  | { type: 'failed'; reason: string }
  | { type: 'counted'; outcomes: Outcomes };

/** The first round: the victim alone. Where it does not hold, the machine is too busy to say anything. */
export const NOBODY: Attack = {
  name: 'nobody',
  title: 'The victim is alone.',
  heldBy: '',
  isShort: true,
  act: () => Promise.resolve(),
};
