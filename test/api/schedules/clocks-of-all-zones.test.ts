// Compares the times that Temporal finds for the specs of schedules with those of cron-oracle.ts, around every change
// of clocks in three years.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { parseCron } from '../../../api/schedules/cron.js';
import { toSpec } from '../../../api/schedules/temporal-spec.js';
import { withTemporal } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import { sampleLines } from './cron-lines.js';
import { daysOfChange, dueTimes, toText, watchClock } from './cron-oracle.js';
import { dueOnTemporal } from './schedule-maker.js';

const YEAR = new Date().getUTCFullYear();
const SAMPLES = 6;
const SEED = Number(process.env['SCHEDULES_SEED'] ?? 1);
/**
 * Lines around a special case of Temporal: in zones west of Greenwich, it takes a day that begins with a missing hour
 * for the day before.
 */
const LINES = [
  '30 2 * * *',
  '15,45 1-3 * * *',
  '30 8 * * 0',
  '30 8 * * 6',
  '0 0 * * 0',
  '30 23 * * *',
  '30 0 1-31 * 1-5',
];
const ACTION = { type: 'startWorkflow', workflowType: 'none', taskQueue: 'none', workflowId: 'none' } as const;

describe('clocks of all zones', function () {
  this.timeout(1_200_000);

  it(`are told to Temporal so that it fires at the right times (seed ${SEED})`, async () => {
    const stack = await sharedStack();
    const known = new Set<string>();
    await withTemporal(stack, async (client) => {
      for (const zone of Intl.supportedValuesOf('timeZone')) {
        const spans = daysOfChange(zone, Date.UTC(YEAR, 0, 1), Date.UTC(YEAR + 3, 0, 1));
        const watched = spans.map((span) => watchClock(zone, ...span));
        const clocks = watched.flat().map(({ ms, clock }) => `${ms} ${clock - ms}`);
        if (spans.length === 0 || known.has(clocks.join())) continue;
        known.add(clocks.join());
        for (const cron of [...LINES, ...sampleLines(SEED, known.size, SAMPLES)]) {
          const scheduleId = `clocks-${randomUUID()}`;
          const spec = toSpec(parseCron(cron), zone, YEAR);
          const handle = await client.schedule.create({ scheduleId, spec, action: ACTION, state: { paused: true } });
          for (const [index, span] of spans.entries()) {
            const due = await dueOnTemporal(client, scheduleId, span);
            assert.equal(toText(due), toText(dueTimes(cron, watched[index]!)), `${cron} in ${zone}`);
          }
          await handle.delete();
        }
      }
    });
    assert.ok(known.size >= 10, `${known.size}`);
  });
});
