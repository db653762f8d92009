// Faults in which parts are killed, frozen, absent, or stopped and restarted in an orderly way.
import { setTimeout as pause } from 'node:timers/promises';
import type { ChildName } from '../../cli/embedded/stack-file.js';
import type { Fault } from '../fault.js';
import { freezePart, keepAway, killParts, PARTS } from '../parts.js';
import type { HitDescription, Stage } from '../stage.js';

const FREEZE_MS = 20_000;
const AWAY_MS = 30_000;
/**
 * Longer than the heartbeat timeout of activities (10 s), so that most calls cut by the worker's death are retried
 * before the next part dies.
 */
const AFTER_WORKER_MS = 12_000;
const NAMES: Record<ChildName, string> = {
  worker: 'the worker',
  api: 'the API',
  temporal: 'Temporal',
  postgres: 'Postgres',
};

/**
 * The calls that the loss of a part cuts (`HitDescription.cuts`). Without Postgres no call in flight is lost, because
 * the worker keeps answers until they can be recorded; only claims get no answer.
 */
const CUTS: Record<ChildName, HitDescription['cuts']> = {
  worker: 'calls',
  api: 'nothing',
  temporal: 'calls',
  postgres: 'claims',
};

function describeHit(how: string, part: ChildName, ends: ChildName[]): HitDescription {
  const apiDown = part === 'api' || part === 'postgres';
  return { what: `${how} ${NAMES[part]}`, cuts: CUTS[part], apiDown, ends };
}

const kills: Fault[] = PARTS.map((part) => ({
  name: `kill-${part}`,
  title: `kill -9 of ${NAMES[part]}`,
  apply: (stage) => stage.hit(describeKill(part), () => killParts(stage.world, [part])),
}));

const killAll: Fault = {
  name: 'kill-all',
  title: 'kill -9 of all four at once',
  apply: (stage) =>
    stage.hit({ what: 'kill -9 of all', cuts: 'calls', apiDown: true, ends: PARTS }, () =>
      killParts(stage.world, PARTS),
    ),
};

const killEverything: Fault = {
  name: 'kill-everything',
  title: 'kill -9 of everything, the supervisor included, and start again within a second',
  apply: (stage) =>
    stage.hit({ what: 'kill -9 of everything', cuts: 'calls', apiDown: true, ends: PARTS }, () => stage.world.crash()),
};

/**
 * A worker that is frozen in the middle of workflow code may abort when it continues. The SDK's limit of 5 s for such
 * code has passed by then, and Node.js does not always survive the interruption ("async hook stack has become
 * corrupted").
 */
const freezes: Fault[] = PARTS.map((part) => ({
  name: `freeze-${part}`,
  title: `SIGSTOP of ${NAMES[part]} for ${FREEZE_MS / 1000} s`,
  spreadMs: 10_000,
  apply: (stage) =>
    stage.hit(describeHit('SIGSTOP of', part, part === 'worker' ? ['worker'] : []), () =>
      freezePart(stage.world, part, FREEZE_MS),
    ),
}));

const outages: Fault[] = (['temporal', 'postgres'] as const).map((part) => ({
  name: `away-${part}`,
  title: `${NAMES[part]} away for ${AWAY_MS / 1000} s`,
  spreadMs: 15_000,
  apply: (stage) =>
    stage.hit(describeHit('the absence of', part, [part]), () => keepAway(stage.world, part, () => pause(AWAY_MS))),
}));

/** The worker records the ends of runs, so runs must end while the API is away. */
const apiAway: Fault = {
  name: 'away-api',
  title: `every API process away for ${AWAY_MS / 1000} s, while runs end`,
  apply: (stage) =>
    stage.hit(describeHit('the absence of', 'api', ['api']), () =>
      keepAway(stage.world, 'api', async () => {
        const since = new Date();
        await pause(AWAY_MS);
        const ended = 'SELECT FROM runs WHERE project_id = $1 AND run_finished_at > $2 LIMIT 1';
        const rows = await stage.world.query(ended, [stage.projectId, since]);
        if (rows.length === 0) stage.complain('no run has ended while the API was away');
      }),
    ),
};

/** The worker drains: work in flight ends, so no call is cut. */
const restart: Fault = {
  name: 'restart',
  title: 'orderly stop of everything, and start again',
  apply: restartAll,
};

function restartAll(stage: Stage): Promise<void> {
  return stage.hit({ what: 'the restart', cuts: 'nothing', apiDown: true, ends: PARTS }, () => stage.world.restart());
}

/** Kills the parts one after the other, each after the previous one has recovered, then restarts all of them. */
export async function killInTurn(stage: Stage): Promise<void> {
  for (const part of PARTS) {
    await stage.hit(describeKill(part), () => killParts(stage.world, [part]));
    if (part === 'worker') await pause(AFTER_WORKER_MS);
  }
  await restartAll(stage);
}

export function describeKill(part: ChildName): HitDescription {
  return describeHit('kill -9 of', part, [part]);
}

export const deaths: Fault[] = [...kills, killAll, killEverything, ...freezes, restart, ...outages, apiAway];
