// What an attack is. The files in `attacks/` declare them, and `harness/` does the rest.
import type { Tenant } from './tenant.js';

export interface Attack {
  /** For `--only`, and for the table. */
  name: string;
  /** What the attackers do. */
  title: string;
  /** So many accounts act at once, each with a user, a project and a key of its own; 1 by default. */
  tenants?: number;
  /** Whether it belongs to the short form too. */
  isShort?: boolean;
  /** Runs before the victim is measured. */
  prepare?: Preparation;
  /** Goes on until the tenant's signal is aborted, or ends earlier; `prepared` is what `prepare` gave. */
  act: (tenant: Tenant, prepared: Prepared) => Promise<unknown>;
}

/** What later parts of an attack need to know, as JSON. */
export type Prepared = Record<string, string | number | (string | number)[]>;

/** Attacks that name the same preparation share what it made, and its accounts. */
export interface Preparation {
  name: string;
  make: (tenant: Tenant) => Promise<Prepared>;
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
  | { type: 'act'; attack: string; accounts: AccountAt[]; prepared: Prepared[] }
  | { type: 'count' };

export type FromAttacker =
  | { type: 'ready' }
  | { type: 'prepared'; prepared: Prepared[] }
  | { type: 'failed'; reason: string }
  | { type: 'counted'; outcomes: Outcomes };

/** The first round: the victim alone. Where it does not hold, the machine is too busy to say anything. */
export const NOBODY: Attack = {
  name: 'nobody',
  title: 'The victim is alone.',
  isShort: true,
  act: () => Promise.resolve(),
};
