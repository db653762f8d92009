import assert from 'node:assert/strict';
import { ofCron, toCron } from '../../../console/parts/starts/repeats.js';

/** Expressions with the kind of their repeat. */
const REPEATS = [
  ['* * * * *', 'minutes'],
  ['*/15 * * * *', 'minutes'],
  ['5 * * * *', 'hour'],
  ['0 9 * * *', 'day'],
  ['30 7 * * MON-FRI', 'week'],
  ['0 18 * * SUN', 'week'],
  ['0 12 1 * *', 'month'],
] as const;

const OTHERS = [
  '*/7 * * * *',
  '0 9 * 2 *',
  '0 9 1 * MON',
  '0 9 * * MON#1',
  '61 9 * * *',
  '*/5 8-18 * * *',
  'daily',
  '',
];

describe('the repeats of a schedule', () => {
  for (const [cron, kind] of REPEATS)
    it(`reads and writes ${cron} as ${kind}`, () => {
      assert.equal(ofCron(cron).kind, kind);
      assert.equal(toCron(ofCron(cron)), cron);
    });

  it('leaves other expressions to the field', () => {
    for (const cron of OTHERS) {
      assert.equal(ofCron(cron).kind, 'cron', cron);
      assert.equal(toCron(ofCron(cron)), undefined, cron);
    }
  });

  it('keeps the choices of other repeats while an expression is typed', () => {
    const daily = ofCron('15 6 * * *');
    const typed = ofCron('15 6 * * MO', daily);
    assert.deepEqual([typed.kind, typed.at], ['cron', '06:15']);
  });

  it('writes an empty expression, which is not saved, while a field is empty or out of range', () => {
    assert.equal(toCron({ ...ofCron('0 9 * * *'), at: '' }), '');
    assert.equal(toCron({ ...ofCron('0 9 3 * *'), day: '' }), '');
    assert.equal(toCron({ ...ofCron('0 9 3 * *'), day: '45' }), '');
    assert.equal(toCron({ ...ofCron('3 * * * *'), minute: '75' }), '');
  });
});
