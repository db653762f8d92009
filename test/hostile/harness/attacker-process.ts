// The process of the attackers of one round. Its priority and processor time are limited, so that it does not slow the
// service down by using the machine itself.
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { Agent, setGlobalDispatcher } from 'undici';
import { attacks } from '../attacks/all.js';
import {
  NOBODY,
  type AccountAt,
  type Attack,
  type FromAttacker,
  type Outcomes,
  type Prepared,
  type ToAttacker,
} from './attack.js';
import { startServers } from '../../../harness/target/bad-answers.js';
import { createTenant, type Tenant } from './tenant.js';

const LOWEST_PRIORITY = 19;
const outcomes: Outcomes = {};

setPriority(LOWEST_PRIORITY);
// An answer may take as long as the round.
setGlobalDispatcher(new Agent({ headersTimeout: 0, bodyTimeout: 0 }));
const outside = startServers();
process.on('message', (message: ToAttacker) => void take(message).catch(fail));
process.once('disconnect', () => process.exit(0));
const [, , group] = process.argv;
if (group !== undefined) writeFileSync(group, String(process.pid));
tell({ type: 'ready' });

async function take(message: ToAttacker): Promise<void> {
  if (message.type === 'count') return tell({ type: 'counted', outcomes });
  const attack = attackOf(message.attack);
  const tenants = await tenantsOf(message.accounts);
  if (message.type === 'prepare') {
    const make = attack.prepare?.make ?? (() => Promise.resolve({}));
    return tell({ type: 'prepared', prepared: await Promise.all(tenants.map(make)) });
  }
  await Promise.all(tenants.map((tenant, index) => attack.act(tenant, message.prepared[index] as Prepared)));
}

function attackOf(name: string): Attack {
  const attack = [NOBODY, ...attacks].find((each) => each.name === name);
  if (attack === undefined) throw new Error(`there is no attack ${name}`);
  return attack;
}

async function tenantsOf(accounts: AccountAt[]): Promise<Tenant[]> {
  const url = await outside;
  return accounts.map((account) => createTenant(account, url, outcomes));
}

function fail(error: unknown): void {
  tell({ type: 'failed', reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

function tell(message: FromAttacker): void {
  if (process.connected) process.send!(message);
}
