// The schedules of a workflow, as its members create, see, change and delete them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ScheduleNotFoundError } from '@temporalio/client';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain, drawing, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase, toText } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, removeMembership, type Account } from '../accounts.js';
import type { FieldErrors, Page } from '../bodies.js';
import { findSchedule, inTemporal, makeSchedule, ONCE_A_YEAR, untilTold, type Schedule } from './schedule-maker.js';

describe('schedules', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    api = account.api;
    project = await api.createProject();
  });

  const workflow = (data: object = chain(1)): Promise<number> => api.createWorkflow(project, data);
  const list = async (id: number, client = api): Promise<Schedule[]> =>
    (await client.get<Page<Schedule>>(`/workflows/${id}/schedules/?size=100`)).body.items;
  const change = async (id: number, schedule: Schedule, body: object, client = api) => {
    const answer = await client.patch<Schedule>(`/workflows/${id}/schedules/${schedule.id}/`, { body });
    return answer.status === 200 ? { ...answer, body: await untilTold(client, id, answer.body) } : answer;
  };
  const isInTemporal = (id: string): Promise<boolean> =>
    inTemporal(stack, id, (handle) =>
      handle.describe().then(
        () => true,
        (error: unknown) => {
          if (error instanceof ScheduleNotFoundError) return false;
          throw error;
        },
      ),
    );

  it('are made with defaults, and tell the next five times', async () => {
    const id = await workflow();
    const made = await makeSchedule(api, id, { cron: ' 30  8 * * mon-fri ' });
    const { id: scheduleId, created_at: createdAt, author, next_run_times: times, ...rest } = made;
    assert.deepEqual(rest, {
      cron: '30 8 * * MON-FRI',
      time_zone: 'UTC',
      input: {},
      overlap: 'skip',
      is_paused: false,
      pause_reason: null,
      jitter_seconds: 0,
      catchup_seconds: 300,
      last_firing: null,
    });
    assert.equal(author.id, account.userId);
    assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000);
    assert.equal(times?.length, 5);
    for (const time of times) {
      assert.match(time, /T08:30:00\.000Z$/);
      assert.ok(![0, 6].includes(new Date(time).getUTCDay()), time);
    }
    assert.deepEqual(times, times.toSorted());
    const [listed, ...others] = await list(id);
    assert.deepEqual([await untilTold(api, id, listed!), ...others], [made]);
    assert.equal(await isInTemporal(scheduleId), true);
  });

  it('mean crontab: either of two fields for days, names, steps, seven as Sunday', async () => {
    const id = await workflow();
    const daysOf = async (cron: string): Promise<Date[]> =>
      (await makeSchedule(api, id, { cron })).next_run_times!.map((time) => new Date(time));
    for (const day of await daysOf('0 0 13 * FRI')) {
      assert.ok(day.getUTCDate() === 13 || day.getUTCDay() === 5, day.toISOString());
    }
    assert.ok((await daysOf('0 0 * * 7')).every((day) => day.getUTCDay() === 0));
    assert.ok((await daysOf('0 0 1 feb,AUG *')).every((day) => [1, 7].includes(day.getUTCMonth())));
    const minutes = (await daysOf('5/20 * * * *')).map((day) => day.getUTCMinutes());
    assert.deepEqual(
      [...new Set(minutes)].toSorted((a, b) => a - b),
      [5, 25, 45],
    );
    assert.ok((await daysOf('0 0 29 2 *')).every((day) => day.getUTCDate() === 29));
  });

  it('refuse cron expressions that are invalid, never fire or have more than five fields', async () => {
    const id = await workflow();
    const wrong = ['', '* * * *', '* * * * * *', '@every 1s', '@daily', 'CRON_TZ=UTC * * * * *', '60 * * * *'];
    wrong.push('0 24 * * *', '0 0 31 2 *', '0 0 31 4,6,9,11 *', '0 0 L * *', '0 0 ? * *', '0 0 * * 1#2', 'H * * * *');
    wrong.push('*/0 * * * *', '10-5 * * * *', '1--2 * * * *', ', * * * *', '0 0 * FOO *', '-1 * * * *', '1.5 * * * *');
    wrong.push('0 0 30 2 */2', '0 0 31 4 */1');
    wrong.push(`${'1,'.repeat(200)}1 * * * *`, '0 0 * * 8', '* * * * *\0', '٣ * * * *', '0 0 0 * *', '0 0 * 13 *');
    for (const cron of wrong) {
      const answer = await api.post<FieldErrors>(`/workflows/${id}/schedules/`, { body: { cron } });
      assert.equal(answer.status, 400, cron);
      assert.ok('cron' in answer.body || 'detail' in answer.body, JSON.stringify(answer.body));
    }
    assert.deepEqual(await list(id), []);
  });

  it('take names of time zones, and nothing else that is out of its limits', async () => {
    const id = await workflow();
    const zones = { 'europe/berlin': 'Europe/Berlin', utc: 'UTC', 'US/Eastern': 'America/New_York', GMT: 'UTC' };
    for (const [given, zone] of Object.entries(zones)) {
      const made = await makeSchedule(api, id, { cron: ONCE_A_YEAR, time_zone: given });
      assert.equal(made.time_zone, zone);
      assert.equal(made.next_run_times?.length, 5, 'Temporal knows the zone');
    }
    const wrong = [
      { time_zone: '+01:00' },
      { time_zone: 'Mars/Olympus' },
      { time_zone: '' },
      { overlap: 'terminate' },
      { jitter_seconds: -1 },
      { jitter_seconds: 3601 },
      { catchup_seconds: 9 },
      { catchup_seconds: 86_401 },
      { catchup_seconds: 1.5 },
      { is_paused: 'no' },
      { input: { text: 'x'.repeat(262_144) } },
    ];
    for (const body of wrong) {
      const answer = await api.post<FieldErrors>(`/workflows/${id}/schedules/`, {
        body: { cron: ONCE_A_YEAR, ...body },
      });
      assert.deepEqual(
        [answer.status, Object.keys(answer.body)],
        [400, Object.keys(body)],
        JSON.stringify(answer.body),
      );
    }
  });

  it('are changed field by field', async () => {
    const id = await workflow();
    const made = await makeSchedule(api, id, { cron: '0 8 * * *', input: { exact: 1 }, jitter_seconds: 0 });
    const { status, body } = await change(id, made, { cron: '0 9 * * *', time_zone: 'Asia/Tokyo' });
    assert.equal(status, 200);
    assert.deepEqual(
      { ...body, next_run_times: null },
      {
        ...made,
        cron: '0 9 * * *',
        time_zone: 'Asia/Tokyo',
        next_run_times: null,
      },
    );
    // Temporal may report the new times a moment after it has accepted the change.
    await eventually(async () => {
      const { next_run_times: times } = await findSchedule(api, id, made.id);
      return times?.every((time) => time.endsWith('T00:00:00.000Z')); // nine in Tokyo
    });
    const paused = await change(id, made, { is_paused: true });
    assert.deepEqual([paused.body.is_paused, paused.body.pause_reason, paused.body.next_run_times], [true, null, []]);
    assert.equal((await inTemporal(stack, made.id, (handle) => handle.describe())).state.paused, true);
    const resumed = await change(id, made, { is_paused: false, overlap: 'cancel_other', catchup_seconds: 60 });
    assert.equal(resumed.body.next_run_times?.length, 5);
    const { policies, state } = await inTemporal(stack, made.id, (handle) => handle.describe());
    assert.deepEqual([policies.overlap, policies.catchupWindow, state.paused], ['CANCEL_OTHER', 60_000, false]);
    assert.equal((await change(id, made, { cron: 'never' })).status, 400);
    assert.equal((await findSchedule(api, id, made.id)).cron, '0 9 * * *');
  });

  it('keep numbers exactly, hide secrets, and keep those that come back masked', async () => {
    const fields = [
      { id: 'token', type: 'text', label: 'Token', is_secret: true, input_requirements: true },
      { id: 'count', type: 'number', label: 'Count' },
    ];
    const id = await workflow(drawing([trigger(fields)]));
    const token = `secret-${randomUUID()}`;
    const text = `{"cron":"${ONCE_A_YEAR}","input":{"token":"${token}","count":12345678901234567890,"note":"it is ${token}"}}`;
    const headers = { 'content-type': 'application/json' };
    const { status, body: made } = await api.post<Schedule>(`/workflows/${id}/schedules/`, { text, headers });
    assert.equal(status, 201, JSON.stringify(made));
    assert.equal(JSON.stringify(made).includes(token), false);
    const note = `note-${randomUUID()}`;
    const kept = await change(id, made, { input: { token: '********', note } });
    assert.deepEqual(kept.body.input, { token: '********', note });
    const refused = await change(id, made, { input: {} });
    assert.deepEqual([refused.status, refused.body], [400, { input: ['token: Field required'] }]);
    const [row] = await queryDatabase<{ row: string }>(stack, 'SELECT s::text AS row FROM schedules s WHERE id = $1', [
      made.id,
    ]);
    assert.equal(row!.row.includes(token) || row!.row.includes(note), false);
    const known = toText(await inTemporal(stack, made.id, (handle) => handle.describe()));
    for (const content of [token, note]) assert.equal(known.includes(content), false, content);
    await inTemporal(stack, made.id, (handle) => handle.trigger());
    const runId = await eventually(async () => (await findSchedule(api, id, made.id)).last_firing?.run_id ?? undefined);
    assert.deepEqual((await api.history(id, runId))['input_data'], { token: '********', note });
  });

  it('belong to their workflow: nobody reaches those of others', async () => {
    const [id, other] = [await workflow(), await workflow()];
    const made = await makeSchedule(api, id);
    const stranger = await createAccount(stack);
    assert.equal((await change(other, made, { is_paused: true })).status, 404);
    assert.equal((await api.delete(`/workflows/${other}/schedules/${made.id}/`)).status, 404);
    assert.equal((await change(id, made, { is_paused: true }, stranger.api)).status, 404);
    assert.equal((await change(id, { ...made, id: randomUUID() }, { is_paused: true })).status, 404);
    assert.deepEqual(await list(id), [made]);
  });

  it('are 20 for a workflow at most, also when all are made at once', async () => {
    const id = await workflow();
    const body = { cron: ONCE_A_YEAR, is_paused: true };
    const answers = await Promise.all(
      Array.from({ length: 22 }, () => api.post<{ code?: string }>(`/workflows/${id}/schedules/`, { body })),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 20);
    assert.deepEqual(
      answers.filter(({ status }) => status !== 201).map(({ status, body: { code } }) => [status, code]),
      Array.from({ length: 2 }, () => [400, 'too_many_schedules']),
    );
  });

  it('are gone from Temporal when they, their workflow or their project are deleted', async () => {
    const own = await api.createProject();
    const [first, second] = [await api.createWorkflow(own, chain(1)), await api.createWorkflow(own, chain(1))];
    const one = await makeSchedule(api, first);
    const [two, three] = [await makeSchedule(api, first), await makeSchedule(api, second)];
    assert.equal((await api.delete(`/workflows/${first}/schedules/${one.id}/`)).status, 204);
    assert.deepEqual([await isInTemporal(one.id), await isInTemporal(two.id)], [false, true]);
    assert.equal((await api.delete(`/workflows/${first}/schedules/${one.id}/`)).status, 404);
    assert.equal((await api.delete(`/workflows/${first}/`)).status, 204);
    await eventually(async () => !(await isInTemporal(two.id)));
    assert.equal(await isInTemporal(three.id), true);
    assert.equal((await api.delete(`/projects/${own}/`)).status, 204);
    await eventually(async () => !(await isInTemporal(three.id)));
    const left = 'SELECT FROM schedule_removals WHERE schedule_id = ANY($1)';
    await eventually(async () => (await queryDatabase(stack, left, [[one.id, two.id, three.id]])).length === 0);
  });

  it('that Temporal has lost are made anew, and those that only Temporal has are deleted at their next firing', async () => {
    const id = await workflow();
    const [lost, orphan] = [await makeSchedule(api, id), await makeSchedule(api, id)];
    await inTemporal(stack, lost.id, (handle) => handle.delete());
    assert.equal((await findSchedule(api, id, lost.id)).next_run_times, null);
    await queryDatabase(stack, 'UPDATE schedules SET sync_at = now() WHERE id = $1', [lost.id]);
    await eventually(() => isInTemporal(lost.id));
    await eventually(async () => (await findSchedule(api, id, lost.id)).next_run_times?.length === 5);
    await queryDatabase(stack, 'DELETE FROM schedules WHERE id = $1', [orphan.id]);
    await inTemporal(stack, orphan.id, (handle) => handle.trigger());
    await eventually(async () => !(await isInTemporal(orphan.id)));
  });

  it('whose author has lost access pause themselves and say why; who resumes one becomes its author', async () => {
    const id = await workflow();
    const editor = await createAccount(stack);
    await giveRole(stack, editor, project, 'editor');
    const made = await makeSchedule(editor.api, id);
    await removeMembership(stack, editor, project);
    await inTemporal(stack, made.id, (handle) => handle.trigger());
    const paused = await eventually(async () => {
      const now = await findSchedule(api, id, made.id);
      return now.is_paused && now;
    });
    assert.equal(paused.pause_reason, 'author_lost_access');
    assert.equal(paused.last_firing?.run_id, null);
    assert.deepEqual(paused.last_firing?.refusal, {
      code: 'author_lost_access',
      message: 'The author of this schedule may not run the workflow.',
    });
    await eventually(async () => (await inTemporal(stack, made.id, (handle) => handle.describe())).state.paused);
    const resumed = await change(id, made, { is_paused: false });
    assert.deepEqual(
      [resumed.body.is_paused, resumed.body.pause_reason, resumed.body.author.id],
      [false, null, account.userId],
    );
    await inTemporal(stack, made.id, (handle) => handle.trigger());
    await eventually(async () => (await findSchedule(api, id, made.id)).last_firing?.run_id !== null);
  });

  it('whose workflow refuses the run say why, and keep nothing of it', async () => {
    const id = await workflow();
    const made = await makeSchedule(api, id, { cron: ONCE_A_YEAR, input: { other: 1 } });
    const fields = [{ id: 'topic', type: 'text', label: 'Topic', input_requirements: true }];
    const start = trigger(fields);
    await api.patch(`/workflows/${id}/`, { body: { data: drawing([start]) } });
    await inTemporal(stack, made.id, (handle) => handle.trigger());
    const { last_firing: last, is_paused: isPaused } = await eventually(async () => {
      const now = await findSchedule(api, id, made.id);
      return now.last_firing !== null && now;
    });
    assert.equal(isPaused, false);
    assert.deepEqual(
      [last?.run_id, last?.refusal],
      [null, { code: 'invalid_nodes', message: `node ${start.id}, topic: Field required.` }],
    );
    assert.deepEqual(await queryDatabase(stack, 'SELECT id FROM runs WHERE workflow_id = $1', [id]), []);
  });
});
