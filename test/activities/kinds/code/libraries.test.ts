// The library for dates in the sandbox. QuickJS has no data of time zones; they come from Node.js.
import assert from 'node:assert/strict';
import { loadQuickJs, runProgram } from '../../../../activities/kinds/code/child/run-program.js';

describe('the library luxon in code', function () {
  this.timeout(60_000);

  async function run(code: string): Promise<unknown> {
    const program = { code, inputs: '{}', marker: 'marker', hasMarks: false, timeoutMs: 30_000 };
    const reply = await runProgram(await loadQuickJs(), program, () => Promise.reject(new Error('no files')));
    return reply.status === 'returned' ? JSON.parse(reply.json) : reply;
  }

  it('knows the time zones with their changes, and formats dates', async () => {
    const code = `
      const { DateTime } = luxon;
      const inZone = (text) => DateTime.fromISO(text, { zone: 'UTC' }).setZone('America/New_York').toISO();
      return [inZone('2024-03-05T12:00:00'), inZone('2024-07-05T12:00:00'),
        DateTime.fromISO('2024-07-05T12:00:00', { zone: 'Asia/Tokyo' }).toUTC().toISO(),
        DateTime.fromISO('2024-07-05', { zone: 'UTC' }).toFormat('cccc d LLLL yyyy')];`;
    assert.deepEqual(await run(code), [
      '2024-03-05T07:00:00.000-05:00',
      '2024-07-05T08:00:00.000-04:00',
      '2024-07-05T03:00:00.000Z',
      'Friday 5 July 2024',
    ]);
  });

  it('has no date for a zone or a text that there is not, and says so', async () => {
    const code = `
      const { DateTime } = luxon;
      return [DateTime.now().setZone('Nowhere/Else').isValid, DateTime.fromISO('tomorrow').isValid,
        DateTime.now().setZone('x'.repeat(1000)).isValid];`;
    assert.deepEqual(await run(code), [false, false, false]);
  });

  it('may be replaced by a variable of the code', async () => {
    assert.equal(await run('const luxon = 5; return luxon;'), 5);
    assert.equal(await run('globalThis.luxon = 6; return luxon;'), 6);
  });
});
