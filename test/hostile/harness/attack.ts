// The definition of an attack. The files in `test/hostile/attacks/` declare attacks, and `test/hostile/harness/` plays
// them.
import type { Tenant } from './tenant.js';

export interface Attack {
  /** The name for `--only`, and for the table. */
  name: string;
  /** A description of what the attackers do. */
  title: string;
  /** The limit that protects the victim. */
  heldBy: string;
  /** The number of accounts that act at once, each with a user, a project and a key of its own; 1 by default. */
  tenants?: number;
  /** True if the attack is a part of the short form. */
  isShort?: boolean;
  /** Runs before the victim is measured. */
  prepare?: Preparation;
  /** Runs until the process of the attackers is killed, or ends earlier. `prepared` is the result of `prepare`. */
  act: (tenant: Tenant, prepared: Prepared) => Promise<unknown>;
}

/** The objects that preparations create for attacks. Each preparation creates some of them. */
export interface Prepared {
  project: number;
  workflow: number;
  run: string;
  slug: string;
  /** The paths of two hooks: one that verifies nothing, and one that verifies signatures. */
  open: string;
  signed: string;
}

/** Attacks that name the same preparation share its objects and its accounts. */
export interface Preparation {
  name: string;
  make: (tenant: Tenant) => Promise<Partial<Prepared>>;
}

/** An account, as it is sent to an attacker's process. */
export interface AccountAt {
  apiUrl: string;
  apiKey: string;
  sessionToken: string;
  projectId: number;
}

/** The count of each outcome: a status, or the code of an error. */
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

/** The first round: the victim alone. If it fails, the machine is too busy for any result. */
export const NOBODY: Attack = {
  name: 'nobody',
  title: 'The victim is alone.',
  heldBy: '',
  isShort: true,
  act: () => Promise.resolve(),
};
