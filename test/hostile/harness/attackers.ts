// Starts and controls the process of the attackers of one round, which prepares, acts, and is killed.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { AccountAt, Attack, FromAttacker, Outcomes, Prepared, ToAttacker } from './attack.js';

export interface Attackers {
  prepare: () => Promise<Partial<Prepared>[]>;
  act: (prepared: Partial<Prepared>[]) => void;
  count: () => Promise<Outcomes>;
  /** Returns the error by which the attack itself has failed. */
  failure: () => string | undefined;
  kill: () => Promise<void>;
}

const ENTRY = path.join(import.meta.dirname, 'attacker-process.ts');
/** Preparations may start runs with large results, which takes long. */
const PREPARE_WITHIN_MS = 240_000;
/** Only detects hanging: the attackers have little processor time, so they may take long to answer. */
const COUNT_WITHIN_MS = 60_000;

export async function startAttackers(
  { name }: Attack,
  accounts: AccountAt[],
  groupFile: string | undefined,
): Promise<Attackers> {
  const child = fork(ENTRY, groupFile === undefined ? [] : [groupFile], { execArgv: ['--import', 'tsx'] });
  const exited = once(child, 'exit');
  let failure: string | undefined;
  let isKilled = false;
  child.once('exit', () => {
    if (!isKilled) failure ??= 'the process of the attackers ended';
  });
  const send = (message: ToAttacker): void => void (child.connected && child.send(message));
  const next = <Type extends FromAttacker['type']>(type: Type, withinMs: number) =>
    new Promise<Extract<FromAttacker, { type: Type }>>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the attackers were not ${type} in time`)), withinMs);
      const listener = (message: FromAttacker): void => {
        if (message.type === 'failed') failure ??= message.reason;
        if (message.type !== type && (message.type !== 'failed' || type === 'counted')) return;
        clearTimeout(timer);
        child.off('message', listener);
        if (message.type === type) resolve(message as Extract<FromAttacker, { type: Type }>);
        else reject(new Error(failure));
      };
      child.on('message', listener);
    });
  child.on('message', (message: FromAttacker) => {
    if (message.type === 'failed') failure ??= message.reason;
  });
  await next('ready', 30_000);
  return {
    async prepare() {
      const prepared = next('prepared', PREPARE_WITHIN_MS);
      send({ type: 'prepare', attack: name, accounts });
      return (await prepared).prepared;
    },
    act: (prepared) => send({ type: 'act', attack: name, accounts, prepared }),
    async count() {
      const counted = next('counted', COUNT_WITHIN_MS).catch(() => ({ outcomes: {} }));
      send({ type: 'count' });
      return (await Promise.race([counted, exited.then(() => ({ outcomes: {} }))])).outcomes;
    },
    failure: () => failure,
    async kill() {
      isKilled = true;
      child.kill('SIGKILL');
      await exited;
    },
  };
}
