// Values that a schedule was given as secrets stay secret, even if their field is renamed or no longer secret.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openScheduleInput, type ScheduleInput } from '../../../acceptance/schedule-input.js';
import { readSecrets } from '../../../cli/embedded/secrets-file.js';
import { createSecretBox } from '../../../db/core/secret-box.js';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { drawing, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import { findSchedule, inTemporal, makeSchedule, ONCE_A_YEAR, untilFired, type Schedule } from './schedule-maker.js';

const MASK = '********';

describe('secrets of schedules', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    project = await api.createProject();
  });

  const secretField = { id: 'token', type: 'text', label: 'Token', is_secret: true };
  const change = (id: number, schedule: Schedule, body: object) =>
    api.patch<Schedule>(`/workflows/${id}/schedules/${schedule.id}/`, { body });
  async function stored({ id }: Schedule): Promise<ScheduleInput> {
    const rows = await queryDatabase<{ sealed: Buffer }>(
      stack,
      'SELECT input_enc AS sealed FROM schedules WHERE id = $1',
      [id],
    );
    const box = createSecretBox([Buffer.from(readSecrets(stack.dataDir)!.SECRETS_KEY, 'base64')]);
    return openScheduleInput(box, id, rows[0]!.sealed)!;
  }

  it('are asked for where a mask stands in a required field that is not secret, as each firing would', async () => {
    const age = { id: 'age', type: 'number', input_requirements: true };
    const id = await api.createWorkflow(project, drawing([trigger([age])]));
    const body = { cron: ONCE_A_YEAR, input: { age: MASK } };
    const refused = await api.post(`/workflows/${id}/schedules/`, { body });
    assert.deepEqual([refused.status, refused.body], [400, { input: ['age: Field required'] }]);
  });

  it('stay secret when the field is renamed, or marked no longer: in answers, and in what runs store', async () => {
    for (const field of [
      { ...secretField, id: 'key' },
      { ...secretField, is_secret: false },
    ]) {
      const id = await api.createWorkflow(project, drawing([trigger([secretField])]));
      const token = `secret-${randomUUID()}`;
      const made = await makeSchedule(api, id, { cron: ONCE_A_YEAR, input: { token, note: `it is ${token}` } });
      assert.equal((await api.patch(`/workflows/${id}/`, { body: { data: drawing([trigger([field])]) } })).status, 200);
      const hidden = { token: MASK, note: `it is ${MASK}` };
      assert.deepEqual((await findSchedule(api, id, made.id)).input, hidden);
      await inTemporal(stack, made.id, (handle) => handle.trigger());
      const [fired] = await untilFired(stack, made, id, 1);
      await api.pollToEnd(fired!.run_id);
      assert.deepEqual((await api.history(id, fired!.run_id))['input_data'], hidden);
      const run = await queryDatabase<{ row: string }>(stack, 'SELECT r::text AS row FROM runs r WHERE id = $1', [
        fired!.run_id,
      ]);
      assert.equal(run[0]!.row.includes(token), false);
      assert.deepEqual((await change(id, made, { input: { token: MASK, note: 'none' } })).body.input, {
        token: MASK,
        note: 'none',
      });
      assert.deepEqual((await stored(made)).input, { token, note: 'none' });
      const isSecret = field.id === 'token' && field.is_secret;
      const plain = await change(id, made, { input: { token: 'another value' } });
      assert.deepEqual(plain.body.input, { token: isSecret ? MASK : 'another value' });
    }
  });

  it('of a trigger that is not the start can be sent back masked', async () => {
    const id = await api.createWorkflow(project, drawing([trigger(), trigger([secretField])]));
    const token = `secret-${randomUUID()}`;
    const made = await makeSchedule(api, id, { cron: ONCE_A_YEAR, input: { token } });
    assert.deepEqual(made.input, { token: MASK });
    assert.deepEqual((await change(id, made, { input: made.input })).body.input, { token: MASK });
    assert.deepEqual((await stored(made)).input, { token });
  });

  it('whose key was withdrawn start no run and say so, until the input is given again', async () => {
    const id = await api.createWorkflow(project, drawing([trigger([secretField])]));
    const made = await makeSchedule(api, id, { cron: ONCE_A_YEAR, input: { token: 'some secret' } });
    await queryDatabase(
      stack,
      'UPDATE schedules SET input_enc = set_byte(input_enc, 2, 255 - get_byte(input_enc, 2)) WHERE id = $1',
      [made.id],
    );
    await inTemporal(stack, made.id, (handle) => handle.trigger());
    const refused = await eventually(async () => {
      const now = await findSchedule(api, id, made.id);
      return now.last_firing !== null && now;
    });
    assert.deepEqual([refused.input, refused.last_firing?.refusal?.code], [null, 'input_unreadable']);
    assert.deepEqual((await change(id, made, { input: { token: 'given again' } })).body.input, { token: MASK });
    assert.deepEqual((await stored(made)).input, { token: 'given again' });
  });
});
