// Users who are deactivated and activated again (docs/operate/sign-in.md).
import assert from 'node:assert/strict';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { openEventStream, saysInProgress, type OpenStream } from '../../support/event-stream.js';
import { chain, drawing, http, linkInRow, trigger } from '../../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { changeUser, createAccount, giveRole, openSession, sessionOf, type Account } from '../accounts.js';
import type { Detail } from '../bodies.js';
import { deliverTo, makeStartHook } from '../hooks/hook-sender.js';
import { findSchedule, makeSchedule } from '../schedules/schedule-maker.js';
import { Browser, createLink, createPerson, signedIn, type Person } from '../sessions/people.js';

describe('a user who is not active', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let admin: ApiClient;
  let administrator: Account;

  before(async () => {
    stack = await sharedStack();
    administrator = await createAccount(stack);
    await changeUser(stack, administrator, { is_admin: true });
    admin = await sessionOf(stack, administrator);
  });
  after(() => changeUser(stack, administrator, { is_admin: false }));

  const setActive = async (userId: number, isActive: boolean): Promise<void> => {
    const { status, body } = await admin.patch<Detail>(`/users/${userId}/`, { body: { is_active: isActive } });
    assert.equal(status, 200, JSON.stringify(body));
  };
  const statusOf = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${stack.apiUrl}/api/v1/me/`, { headers })).status;
  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

  it('is refused by key, by both kinds of session, by password, by link and by refresh', async () => {
    const person: Person = await createPerson(stack);
    const account = await createAccount(stack);
    await queryDatabase(stack, 'UPDATE api_keys SET user_id = $1 WHERE id = $2', [person.userId, account.keyId]);
    const { browser, session } = await signedIn(stack, person);
    const { session: foreign } = await openSession(stack, { userId: person.userId } as Account);
    const [link, unused] = [await createLink(stack, person.userId), await createLink(stack, person.userId)];
    const credentials = [bearer(session), bearer(foreign), { 'x-api-key': account.apiKey }];
    for (const headers of credentials) assert.equal(await statusOf(headers), 200);
    await setActive(person.userId, false);
    for (const headers of credentials) assert.equal(await statusOf(headers), 401);
    const chat = await fetch(`${stack.apiUrl}/v1/models`, { headers: bearer(account.apiKey) });
    assert.equal(chat.status, 401);
    const stranger = new Browser(stack.apiUrl);
    const unknown = await stranger.logIn({ email: `${person.email}.x`, password: person.password });
    const locked = await stranger.logIn(person);
    assert.deepEqual([locked.status, locked.body], [401, unknown.body], 'nobody learns that the account exists');
    assert.equal((await stranger.post('link/', { token: link })).status, 401);
    assert.equal((await browser.refresh()).status, 401);

    await setActive(person.userId, true);
    const again = await Promise.all(credentials.map(statusOf));
    assert.deepEqual(again, [401, 200, 200], 'the session stays ended; keys and tokens of others are good again');
    assert.equal((await stranger.post('link/', { token: unused })).status, 401, 'links stay ended');
    assert.equal((await stranger.logIn(person)).status, 200);
  });

  it('has hooks that answer 404 until the user is active again, and schedules that stay paused', async () => {
    const owner = await createAccount(stack);
    const { api } = owner;
    const workflow = await api.createWorkflow(await api.createProject(), chain(1));
    const { url } = await makeStartHook(api, workflow);
    const schedule = await makeSchedule(api, workflow);
    const { data: running } = await api.run(workflow);
    await setActive(owner.userId, false);
    const refused = await deliverTo(url);
    assert.deepEqual([refused.status, refused.body.code], [404, 'not_found']);
    const [row] = await queryDatabase(stack, 'SELECT is_paused, pause_reason FROM schedules WHERE id = $1', [
      schedule.id,
    ]);
    assert.deepEqual(row, { is_paused: true, pause_reason: 'author_lost_access' });
    await setActive(owner.userId, true);
    assert.equal((await deliverTo(url)).status, 202);
    assert.equal((await findSchedule(api, workflow, schedule.id)).is_paused, true);
    assert.equal((await api.pollToEnd(running.id)).data.status, 'succeed', 'a run in flight goes on');
  });

  it('loses all open event streams at once, while other users keep theirs', async () => {
    const [reader, other] = await Promise.all([createAccount(stack), createAccount(stack)]);
    const target = await startHttpTarget();
    const opened: OpenStream[] = [];
    try {
      const projectId = await reader.api.createProject();
      await giveRole(stack, other, projectId, 'viewer');
      const nodes = [trigger(), http(`${target.url}/hold/run`)];
      const workflow = await reader.api.createWorkflow(projectId, drawing(linkInRow(nodes)));
      assert.equal((await reader.api.patch(`/workflows/${workflow}/`, { body: { is_chat: true } })).status, 200);
      const { data: run } = await reader.api.run(workflow);
      const startedAtMs = performance.now();
      for (const { apiKey } of [reader, other]) opened.push(await openEventStream(stack.apiUrl, apiKey, run.id));
      const completion = await fetch(`${stack.apiUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...bearer(reader.apiKey), 'content-type': 'application/json' },
        body: JSON.stringify({
          model: `workflow:${workflow}`,
          stream: true,
          messages: [{ role: 'user', content: 'hello' }],
        }),
      });
      assert.match(completion.headers.get('content-type') ?? '', /^text\/event-stream/);
      const [own, foreign] = opened;
      await eventually(() => opened.every((stream) => saysInProgress(stream, nodes[1]!.id)));
      await setActive(reader.userId, false);
      await Promise.all([own!.ended, completion.text().catch(() => undefined)]);
      // The access check of the stream itself runs only after 15 seconds, so the deactivation has ended the stream.
      const tookMs = performance.now() - startedAtMs;
      assert.ok(tookMs < 14_000, `${tookMs} ms`);
      assert.equal(own!.events.at(-1)!.data.status, 'in progress');
      // A stream that had been ended, too, would not show the end of the run, which comes only now.
      assert.notEqual(foreign!.events.at(-1)!.data.status, 'succeed');
      target.release('/hold/run');
      await foreign!.ended;
      assert.equal(foreign!.events.at(-1)!.data.status, 'succeed');
    } finally {
      for (const { close } of opened) close();
      target.release('/hold/run');
      await target.close();
      await setActive(reader.userId, true);
    }
  });

  it('is deactivated by a session only, never by a key, and a concurrent sign-in leaves no session', async () => {
    const { api: byKey } = administrator;
    const other = await createAccount(stack);
    const refused = await byKey.patch<Detail>(`/users/${other.userId}/`, { body: { is_active: false } });
    assert.deepEqual([refused.status, refused.body.code], [403, 'permission_denied']);
    for (let round = 0; round < 5; round += 1) {
      const person = await createPerson(stack);
      const token = await createLink(stack, person.userId);
      const attempts = Array.from({ length: 3 }, () => new Browser(stack.apiUrl).logIn(person));
      await Promise.all([
        ...attempts,
        new Browser(stack.apiUrl).post('link/', { token }),
        setActive(person.userId, false),
      ]);
      const live = 'SELECT id FROM sessions WHERE user_id = $1 AND ended_at IS NULL';
      assert.deepEqual(await queryDatabase(stack, live, [person.userId]), []);
    }
  });
});
