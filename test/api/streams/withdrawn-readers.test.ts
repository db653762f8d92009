// Readers that wait for a run, or follow it, and lose their access before the run ends.
import assert from 'node:assert/strict';
import type { Envelope } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { openEventStream, saysInProgress, type OpenStream } from '../../support/event-stream.js';
import { drawing, http, linkInRow, trigger, type DrawingNode } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';
import {
  changeKey,
  changeUser,
  createAccount,
  giveRole,
  removeKey,
  removeMembership,
  revokeAccess,
  type Account,
} from '../accounts.js';
import { createPerson, signedIn } from '../sessions/people.js';

interface Reader {
  /** The kind of access that the reader loses. */
  name: string;
  headers: Record<string, string>;
  withdraw: () => Promise<unknown>;
}

describe('readers of a run that is in flight', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let target: HttpTarget;
  let owner: Account;
  let projectId: number;
  let runId: string;
  let workflowId: number;
  let held: DrawingNode;

  before(async () => {
    stack = await sharedStack();
    [target, owner] = await Promise.all([startHttpTarget(), createAccount(stack)]);
    projectId = await owner.api.createProject();
    held = http(`${target.url}/hold/readers`);
    const nodes = linkInRow([trigger(), held]);
    workflowId = await owner.api.createWorkflow(projectId, drawing(nodes));
  });
  after(() => target.close());
  beforeEach(async () => {
    runId = (await owner.api.run(workflowId)).data.id;
  });
  afterEach(() => cancel());

  /** A second cancellation is a 400, and does no harm. */
  const cancel = () => owner.api.post(`/workflows/${workflowId}/history/${runId}/cancel/`);

  async function keyOf(name: string, withdraw: (account: Account) => Promise<unknown>): Promise<Reader> {
    const account = await createAccount(stack);
    await giveRole(stack, account, projectId, 'viewer');
    return { name, headers: { 'x-api-key': account.apiKey }, withdraw: () => withdraw(account) };
  }

  async function sessionReader(): Promise<Reader> {
    const person = await createPerson(stack);
    await queryDatabase(stack, `INSERT INTO project_members (project_id, user_id, role) VALUES ($1, $2, 'viewer')`, [
      projectId,
      person.userId,
    ]);
    const { browser, session } = await signedIn(stack, person);
    return {
      name: 'session',
      headers: { authorization: `Bearer ${session}` },
      withdraw: () => browser.logOut(),
    };
  }

  const readers = (): Promise<Reader[]> =>
    Promise.all([
      keyOf('nothing', () => Promise.resolve()),
      keyOf('membership', (account) => removeMembership(stack, account, projectId)),
      keyOf('key', (account) => removeKey(stack, account)),
      keyOf('time', ({ keyId }) =>
        queryDatabase(stack, 'UPDATE api_keys SET expires_at = now() WHERE id = $1', [keyId]),
      ),
      keyOf('project', async (account) =>
        changeKey(stack, account, { projectId: await account.api.createProject('elsewhere') }),
      ),
      keyOf('access', (account) => revokeAccess(stack, account)),
      keyOf('activity', (account) => changeUser(stack, account, { is_active: false })),
      sessionReader(),
    ]);

  it('are disconnected from its events within 15 seconds of losing membership, key or session, and nobody else is', async () => {
    const all = await readers();
    const streams = await Promise.all(all.map(({ headers }) => openEventStream(stack.apiUrl, '', runId, { headers })));
    await eventually(() => streams.every((stream) => saysInProgress(stream, held.id)));
    // A stream checks its reader with each comment, every 15 seconds. The next check is 15 seconds after this comment.
    await eventually(() => streams.every((stream) => stream.comments() > 0));
    const ended = new Set<string>();
    streams.forEach((stream: OpenStream, index) => void stream.ended.then(() => ended.add(all[index]!.name)));
    await Promise.all(all.map(({ withdraw }) => withdraw()));
    const before = streams.map((stream) => stream.comments());
    await eventually(() => ended.size >= all.length - 1 && streams[0]!.comments() > before[0]!);
    assert.deepEqual(
      streams.slice(1).map((stream) => stream.comments()),
      before.slice(1),
      'the first check ends them',
    );
    assert.deepEqual([...ended].toSorted(), ['access', 'activity', 'key', 'membership', 'project', 'session', 'time']);
    for (const { events } of streams) assert.notEqual(events.at(-1)!.data.status, 'succeed');
    streams[0]!.close();
  });

  it('get no result from a poll that was waiting when they lost access', async () => {
    const all = await readers();
    const waitingIn = await startApiProcess(stack);
    const waiting = Promise.all(
      all.map(async ({ headers }) => {
        const url = `${waitingIn.apiUrl}/api/v1/workflows/workflow_result/?id=${runId}`;
        const response = await fetch(url, { headers: { ...headers, prefer: 'wait=50' } });
        const { data } = (await response.json()) as Partial<Envelope>;
        return [response.status, data?.status];
      }),
    );
    await eventually(async () => {
      const metrics = await (await fetch(`${waitingIn.apiUrl}/metrics`)).text();
      return Number(/^run_readers\{kind="poll"\} (\d+)$/m.exec(metrics)![1]) === all.length;
    });
    await Promise.all(all.map(({ withdraw }) => withdraw()));
    await cancel();
    const answers = await waiting;
    await waitingIn.stop();
    assert.deepEqual(
      answers,
      all.map(({ name }) => (name === 'nothing' ? [200, 'failed'] : [400, undefined])),
    );
  });
});
