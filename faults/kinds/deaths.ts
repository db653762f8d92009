// Parts that die, freeze, stay away, or are stopped and started in order.
import { setTimeout as pause } from 'node:timers/promises';
import type { ChildName } from '../../cli/embedded/stack-file.js';
import type { Fault } from '../fault.js';
import { freezePart, keepAway, killParts, PARTS } from '../processes.js';
import type { Blow } from '../stage.js';

const FREEZE_MS = 20_000;
const AWAY_MS = 30_000;
const NAMES: Record<ChildName, string> = { worker: 'worker', api: 'API', temporal: 'Temporal', postgres: 'Postgres' };

/** Only the API's own death leaves the calls of nodes alone. */
function toBlow(how: string, parts: ChildName[]): Blow {
  return {
    what: `${how} ${parts.map((part) => NAMES[part]).join(', ')}`,
    cutsCalls: parts.some((part) => part !== 'api'),
    apiDown: parts.includes('api') || parts.includes('postgres'),
  };
}

const kills: Fault[] = PARTS.map((part) => ({
  name: `kill-${part}`,
  title: `kill -9 of the ${NAMES[part]}`,
  apply: (stage) => stage.hit(toBlow('kill -9 of', [part]), () => killParts(stage.world, [part])),
}));

const killAll: Fault = {
  name: 'kill-all',
  title: 'kill -9 of all four at once',
  apply: (stage) => stage.hit(toBlow('kill -9 of', PARTS), () => killParts(stage.world, PARTS)),
};

const freezes: Fault[] = PARTS.map((part) => ({
  name: `freeze-${part}`,
  title: `${NAMES[part]} frozen for ${FREEZE_MS / 1000} s (SIGSTOP)`,
  spreadMs: 10_000,
  apply: (stage) => stage.hit(toBlow('SIGSTOP of', [part]), () => freezePart(stage.world, part, FREEZE_MS)),
}));

const outages: Fault[] = (['temporal', 'postgres'] as const).map((part) => ({
  name: `away-${part}`,
  title: `${NAMES[part]} away for ${AWAY_MS / 1000} s`,
  spreadMs: 15_000,
  apply: (stage) =>
    stage.hit(toBlow('the absence of', [part]), () => keepAway(stage.world, part, () => pause(AWAY_MS))),
}));

/** The worker drains: what is in flight ends, so no call is cut. */
const restart: Fault = {
  name: 'restart',
  title: 'orderly stop of everything, and start again',
  apply: (stage) => stage.hit({ what: 'the restart', cutsCalls: false, apiDown: true }, () => stage.world.restart()),
};

export const deaths: Fault[] = [...kills, killAll, ...freezes, restart, ...outages];
