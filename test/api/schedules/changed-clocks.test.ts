// Schedules on nights when clocks change: the times in answers and those in Temporal. temporal-spec.test.ts has all
// zones.
import assert from 'node:assert/strict';
import { scheduleName } from '../../../contract/scheduled-run.js';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { withTemporal } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import { daysOfChange, dueTimes, toText, watchClock } from './cron-oracle.js';
import { dueOnTemporal, makeSchedule } from './schedule-maker.js';

const DAY_MS = 24 * 3_600_000;
const YEAR_MS = 366 * DAY_MS;

/** Zones in which hours repeat or are missing: at two, at midnight, half an hour, two hours, and in the evening. */
const ZONES: [zone: string, ...lines: string[]][] = [
  ['Europe/Berlin', '30 2 * * *', '15,45 2 * * *', '*/15 2 * * *', '0 */3 * * *', '0,30 2,3 * * *'],
  ['America/New_York', '30 1 * * *', '0-59 1,2 1-31 * 0', '20 * * * *'],
  ['America/Santiago', '30 8 * * 0', '30 8 * * 6', '0 0 * * *', '30 23 * * *'],
  ['Australia/Lord_Howe', '45 1 * * *', '15 2 * * *', '* * * * *'],
  ['Antarctica/Troll', '15,45 0-2 * * *'],
  ['America/Nuuk', '30 23 * * 6', '0 0 * * *'],
];

describe('schedules where clocks are changed', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let workflow: number;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    workflow = await api.createWorkflow(await api.createProject(), chain(1));
  });

  /** The next time at which the clocks of Berlin go forward or back. */
  function nextChange(hours: 1 | -1) {
    const now = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
    const found = daysOfChange('Europe/Berlin', now, now + YEAR_MS).find(([fromMs, untilMs]) => {
      const [first, last] = [fromMs, untilMs - 15 * 60_000].map((ms) => watchClock('Europe/Berlin', ms, ms + 1)[0]!);
      return last!.clock - last!.ms - (first!.clock - first!.ms) === hours * 3_600_000;
    })!;
    const date = new Date(found[0] + DAY_MS);
    return {
      span: found,
      days: `${date.getUTCDate()} ${date.getUTCMonth() + 1} *`,
      date: date.toISOString().slice(0, 10),
    };
  }

  it('tell the time at which they fire: the first of two, and in a missing hour the moment of the change', async () => {
    const [forward, back] = [nextChange(1), nextChange(-1)];
    const times: [cron: string, span: [number, number], time: string][] = [
      [`30 2 ${forward.days}`, forward.span, `${forward.date}T01:00:00.000Z`],
      [`30 2 ${back.days}`, back.span, `${back.date}T00:30:00.000Z`],
    ];
    for (const [cron, span, time] of times) {
      const made = await makeSchedule(api, workflow, { cron, time_zone: 'Europe/Berlin' });
      assert.equal(made.next_run_times?.[0], time);
      const due = await withTemporal(stack, (client) => dueOnTemporal(client, scheduleName(made.id), span));
      assert.deepEqual(due, [Date.parse(time)]);
    }
  });

  it('fire in Temporal when they are due by the clock', async () => {
    const from = Date.UTC(new Date().getUTCFullYear(), 0, 1);
    await withTemporal(stack, async (client) => {
      for (const [zone, ...lines] of ZONES) {
        const spans = daysOfChange(zone, from, from + YEAR_MS);
        assert.ok(spans.length >= 2, zone);
        for (const cron of lines) {
          const made = await makeSchedule(api, workflow, { cron, time_zone: zone, is_paused: true });
          for (const span of spans) {
            const due = await dueOnTemporal(client, scheduleName(made.id), span);
            assert.equal(toText(due), toText(dueTimes(cron, watchClock(zone, ...span))), `${cron} in ${zone}`);
          }
          await api.delete(`/workflows/${workflow}/schedules/${made.id}/`);
        }
      }
    });
  });
});
