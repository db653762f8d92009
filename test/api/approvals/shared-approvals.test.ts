import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { agent, drawing, linkInRow, trigger } from '../../../harness/drawing/drawing.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { openEventStream } from '../../support/event-stream.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startToolServer, type ToolServer } from '../../../harness/target/tool-server.js';
import { createAccount, giveRole, type Account } from '../accounts.js';

interface Request {
  request_id: string;
  status: string;
  required: number;
  arguments: unknown;
  arguments_hash: string;
  edited_arguments: unknown;
  decided_by: { id: number } | null;
  decisions: {
    decided_by: { id: number; name: string };
    decision: string;
    reason: string;
    decided_at: string;
    arguments_hash: string;
  }[];
}

interface Asked {
  projectId: number;
  runId: string;
  nodeId: string;
  requestId: string;
  model: string;
  note: string;
}

interface Decided {
  status: number;
  data: { decision: string | null; detail?: string };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('approvals by several people', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let tools: ToolServer;
  let owner: Account;
  let people: Account[];

  before(async () => {
    stack = await sharedStack();
    tools = await startToolServer();
    owner = await createAccount(stack);
    people = await Promise.all(Array.from({ length: 4 }, () => createAccount(stack)));
  });
  after(() => tools.close());

  /** Starts a run whose agent waits for approval of its call of `note`. All `people` are editors of the project. */
  async function ask(settings: object = {}, input?: Record<string, string>): Promise<Asked> {
    const { api } = owner;
    const [model, note] = [`shared-${randomUUID()}`, `note ${randomUUID()}`];
    const text = input === undefined ? note : `${note} ${Object.values(input).join(' ')}`;
    stack.modelProvider.script(model, [{ toolCalls: [{ name: 'note', arguments: { text } }] }, { text: 'done' }]);
    const fields = Object.keys(input ?? {}).map((id) => ({ id, is_secret: true }));
    const helper = agent('Note it', { model_name: model, ...settings }, [{ endpoint_url: tools.url }]);
    const projectId = await api.createProject();
    await Promise.all(people.map((person) => giveRole(stack, person, projectId, 'editor')));
    const workflowId = await api.createWorkflow(projectId, drawing(linkInRow([trigger(fields), helper])));
    const runId = (await api.run(workflowId, input)).data.id;
    const [request] = await eventually(async () => {
      const requests = await listOf(api, runId);
      return requests.length > 0 && requests;
    });
    return { projectId, runId, nodeId: helper.id, requestId: request!.request_id, model, note };
  }

  const listOf = async (api: ApiClient, runId: string): Promise<Request[]> =>
    (await api.get<Request[]>(`/workflows/workflow_run/${runId}/agent-approval/`)).body;
  const read = async ({ requestId }: Asked): Promise<Request> =>
    (await owner.api.get<Request>(`/agent-approvals/${requestId}/`)).body;
  const decide = (by: Account, { runId, requestId }: Asked, word: string, body: object = {}) =>
    by.api.post<Decided>(`/workflows/workflow_run/${runId}/agent-approval/${requestId}/${word}/`, { body });
  const notesOf = ({ note }: Asked): unknown[] =>
    tools.callsOf('note').flatMap(({ arguments: { text } }) => (String(text).startsWith(note) ? [text] : []));

  it('need as many different people as the drawing requires, and list who has decided', async () => {
    const asked = await ask({ approval: { required: 2 } });
    const [first, second] = people as [Account, Account];
    const once = await decide(first, asked, 'approve', { reason: 'looks good' });
    assert.deepEqual([once.status, once.body.status, once.body.data.decision], [200, 200, 'pending']);
    const again = await decide(first, asked, 'approve');
    assert.deepEqual([again.body.status, again.body.data.decision], [200, 'pending']);
    const waiting = await read(asked);
    const hash = sha256(`{"text":"${asked.note}"}`);
    assert.deepEqual([waiting.status, waiting.required, waiting.decided_by], ['pending', 2, null]);
    assert.deepEqual(
      waiting.decisions.map(({ decided_at: _at, ...made }) => made),
      [
        {
          decided_by: { id: first.userId, name: 'test user' },
          decision: 'approved',
          reason: 'looks good',
          arguments_hash: hash,
        },
      ],
    );
    const polled = (await owner.api.poll(asked.runId)).data.data![asked.nodeId] as unknown as {
      approval_requests: Request[];
    };
    assert.deepEqual(
      [polled.approval_requests[0]!.required, polled.approval_requests[0]!.decisions],
      [2, waiting.decisions],
    );
    assert.deepEqual(notesOf(asked), []);
    assert.equal((await decide(second, asked, 'approve')).body.data.decision, 'approved');
    assert.equal((await owner.api.pollToEnd(asked.runId)).data.status, 'succeed');
    assert.deepEqual(notesOf(asked), [asked.note]);
    const settled = await read(asked);
    assert.deepEqual(
      [settled.status, settled.decided_by?.id, settled.decisions.length],
      ['approved', second.userId, 2],
    );
  });

  it('are rejected by a single person, whoever has approved before', async () => {
    const asked = await ask({ approval: { required: 3 }, on_reject: 'fail' });
    await decide(people[0]!, asked, 'approve');
    assert.equal((await decide(people[1]!, asked, 'reject', { reason: 'no' })).body.data.decision, 'rejected');
    assert.equal((await decide(people[2]!, asked, 'approve')).body.status, 409);
    const end = await owner.api.pollToEnd(asked.runId);
    assert.equal(end.data.data![asked.nodeId]!.error!.code, 'approval_rejected');
    assert.deepEqual(notesOf(asked), []);
    assert.deepEqual(
      (await read(asked)).decisions.map(({ decision }) => decision),
      ['approved', 'rejected'],
    );
  });

  it('expire without the required number of approvals: the call is not made', async () => {
    const approvedOnce = async (approval_timeout = 8): Promise<Asked> => {
      const once = await ask({ approval: { required: 2 }, approval_timeout, on_reject: 'fail' });
      const { decision } = (await decide(people[0]!, once, 'approve')).body.data;
      // If the machine is too slow to approve in time, the test tries a longer time.
      if (decision !== 'pending' && approval_timeout < 60) return approvedOnce(4 * approval_timeout);
      assert.equal(decision, 'pending');
      return once;
    };
    const asked = await approvedOnce();
    const end = await owner.api.pollToEnd(asked.runId);
    assert.equal(end.data.data![asked.nodeId]!.error!.code, 'approval_expired');
    assert.deepEqual(notesOf(asked), []);
    assert.equal((await decide(people[1]!, asked, 'approve')).body.status, 409);
    const { status, decisions } = await read(asked);
    assert.deepEqual([status, decisions.length], ['expired', 1]);
  });

  it('count exactly the required number of 50 concurrent approvals, some of them by the same people', async () => {
    const asked = await ask({ approval: { required: 3 } });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => decide(people[index % people.length]!, asked, 'approve')),
    );
    assert.ok(answers.every(({ status, body }) => status === 200 && body.status === 200));
    assert.equal((await owner.api.pollToEnd(asked.runId)).data.status, 'succeed');
    assert.deepEqual(notesOf(asked), [asked.note]);
    const { decisions } = await read(asked);
    assert.equal(decisions.length, 3);
    assert.equal(new Set(decisions.map(({ decided_by: { id } }) => id)).size, 3);
    // An answer shows the request as it is when the answer is written. So even the answer to the first approval may
    // report the final decision.
    assert.ok(answers.some(({ body }) => body.data.decision === 'approved'));
  });

  it('are refused to people whom the drawing excludes: the starter, and other roles', async () => {
    const asked = await ask({ approval: { exclude_starter: true, roles: ['admin', 'owner'] } });
    for (const by of [owner, people[0]!]) {
      for (const word of ['approve', 'reject']) assert.equal((await decide(by, asked, word)).status, 403);
    }
    assert.equal((await read(asked)).status, 'pending');
    await giveRole(stack, people[1]!, asked.projectId, 'admin');
    assert.equal((await decide(people[1]!, asked, 'approve')).body.data.decision, 'approved');
    await owner.api.pollToEnd(asked.runId);
  });

  it('can replace the arguments: the tool gets the new ones, and the model is told of them', async () => {
    const asked = await ask();
    const edited = { text: `${asked.note}, but politely` };
    const before = await read(asked);
    assert.equal(before.arguments_hash, sha256(`{"text":"${asked.note}"}`));
    const body = { arguments: edited, arguments_hash: before.arguments_hash };
    assert.equal((await decide(people[0]!, asked, 'approve', body)).body.data.decision, 'approved');
    // The client repeats the request, as after a lost response.
    assert.equal((await decide(people[0]!, asked, 'approve', body)).body.status, 200);
    await owner.api.pollToEnd(asked.runId);
    assert.deepEqual(notesOf(asked), [edited.text]);
    const told = stack.modelProvider.requestsFor(asked.model).at(-1)!.messages.at(-1)!;
    assert.ok(String(told.content).includes(JSON.stringify(edited)), String(told.content));
    const after = await read(asked);
    assert.deepEqual(
      [after.arguments, after.edited_arguments, after.arguments_hash],
      [{ text: asked.note }, edited, sha256(JSON.stringify(edited))],
    );
    assert.equal(after.decisions[0]!.arguments_hash, after.arguments_hash);
  });

  it('are refused with arguments that the tool does not accept, and then decide nothing', async () => {
    const asked = await ask();
    for (const given of [{}, { text: 5 }, [], 'text', null, 7]) {
      const answer = await decide(people[0]!, asked, 'approve', { arguments: given });
      assert.equal(answer.status, 400, JSON.stringify(given));
      assert.deepEqual(Object.keys(answer.body as object), ['arguments']);
    }
    const { status, decisions } = await read(asked);
    assert.deepEqual([status, decisions], ['pending', []]);
    await decide(people[0]!, asked, 'reject');
    await owner.api.pollToEnd(asked.runId);
  });

  it('count only together with approvals of the same arguments, and are a 409 for outdated arguments', async () => {
    const asked = await ask({ approval: { required: 2 } });
    const [first, second, third] = people as [Account, Account, Account];
    const { arguments_hash: old } = await read(asked);
    await decide(first, asked, 'approve', { arguments_hash: old });
    const edited = { text: `${asked.note} twice` };
    const edit = await decide(second, asked, 'approve', { arguments: edited, arguments_hash: old });
    assert.deepEqual([edit.body.status, edit.body.data.decision], [200, 'pending']);
    const stale = await decide(third, asked, 'approve', { arguments_hash: old });
    assert.deepEqual([stale.status, stale.body.status, stale.body.data.decision], [200, 409, 'pending']);
    assert.match(stale.body.data.detail!, /arguments/);
    assert.equal((await decide(third, asked, 'approve', { arguments: edited, arguments_hash: old })).body.status, 409);
    const now = await read(asked);
    assert.equal(now.arguments_hash, sha256(JSON.stringify(edited)));
    const last = await decide(third, asked, 'approve', { arguments_hash: now.arguments_hash });
    assert.equal(last.body.data.decision, 'approved');
    await owner.api.pollToEnd(asked.runId);
    assert.deepEqual(notesOf(asked), [edited.text]);
    assert.deepEqual(
      (await read(asked)).decisions.map(({ decided_by: { id }, arguments_hash: hash }) => [id, hash]),
      [
        [first.userId, old],
        [second.userId, now.arguments_hash],
        [third.userId, now.arguments_hash],
      ],
    );
  });

  it('accept one of many concurrent changes of the arguments, and call the tool with it', async () => {
    const asked = await ask();
    const { arguments_hash: hash } = await read(asked);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => {
        const body = { arguments: { text: `${asked.note} ${index}` }, arguments_hash: hash };
        return decide(people[index % people.length]!, asked, 'approve', body);
      }),
    );
    const won = answers.filter(({ body }) => body.status === 200);
    // If too many checks run at once, the service answers 503, so that the client tries again.
    const others = answers.filter((answer) => answer.body.status !== 200);
    assert.equal(won.length, 1);
    assert.ok(others.every(({ status, body }) => status === 503 || body.status === 409));
    await owner.api.pollToEnd(asked.runId);
    assert.deepEqual(notesOf(asked), [((await read(asked)).edited_arguments as { text: string }).text]);
  });

  it('raise the version with each approval that counts, and appear in the event stream', async () => {
    const asked = await ask({ approval: { required: 3 } });
    const stream = await openEventStream(stack.apiUrl, owner.apiKey, asked.runId);
    const told = () =>
      stream.events.flatMap(({ event, id: version, data }) =>
        event === 'approval' ? [{ ...(data as unknown as Request), version }] : [],
      );
    let { version } = (await owner.api.poll(asked.runId)).data;
    const three = people.slice(0, 3);
    for (const [index, person] of three.entries()) {
      await eventually(() => told().length === index + 1);
      assert.equal((await decide(person, asked, 'approve')).body.status, 200);
      const after = (await owner.api.poll(asked.runId)).data.version;
      assert.ok(after! > version!, `${after} after ${version}`);
      version = after;
      if (index > 0) continue;
      await decide(person, asked, 'approve');
      assert.equal((await owner.api.poll(asked.runId)).data.version, version, 'a repetition changes nothing');
    }
    await stream.ended;
    const seen = told();
    assert.deepEqual(
      seen.map(({ status, decisions }) => [status, decisions.map(({ decided_by: { id } }) => id)]),
      [
        ['pending', []],
        ['pending', [three[0]!.userId]],
        ['pending', three.slice(0, 2).map(({ userId }) => userId)],
        ['approved', three.map(({ userId }) => userId)],
      ],
    );
    const ids = stream.events.map((event) => event.id);
    assert.deepEqual(
      ids,
      [...new Set(ids)].toSorted((one, other) => one - other),
      'each event has a version of its own',
    );
    const late = await openEventStream(stack.apiUrl, owner.apiKey, asked.runId);
    await late.ended;
    assert.deepEqual(
      late.events.map(({ event, id }) => [event, id]),
      stream.events.map(({ event, id }) => [event, id]),
    );
  });

  it('mask the secrets of changed arguments, store them sealed, and send them to the tool', async () => {
    const secret = `secret-${randomUUID()}`;
    const asked = await ask({ approval: { required: 2 } }, { token: secret });
    assert.deepEqual((await read(asked)).arguments, { text: `${asked.note} ********` });
    const masked = await decide(people[0]!, asked, 'approve', { arguments: { text: `${asked.note} ********` } });
    assert.equal(masked.status, 400);
    const edited = { text: `${asked.note} with ${secret}` };
    await decide(people[0]!, asked, 'approve', { arguments: edited });
    const shown = await read(asked);
    assert.deepEqual(shown.edited_arguments, { text: `${asked.note} with ********` });
    assert.notEqual(shown.arguments_hash, sha256(JSON.stringify(edited)), 'a short secret could be found by trying');
    const rows = await queryDatabase(
      stack,
      'SELECT row_to_json(a)::text AS row FROM approval_requests a WHERE request_id = $1',
      [asked.requestId],
    );
    assert.ok(!JSON.stringify(rows).includes(secret));
    await decide(people[1]!, asked, 'approve', { arguments_hash: shown.arguments_hash });
    await owner.api.pollToEnd(asked.runId);
    assert.deepEqual(notesOf(asked), [edited.text]);
  });

  it('make a drawing invalid whose settings for them make no sense', async () => {
    for (const approval of [
      { required: 0 },
      { required: 6 },
      { required: 1.5 },
      { roles: ['viewer'] },
      { roles: [] },
      2,
    ]) {
      const helper = agent('Note it', { model_name: 'm', approval }, [{ endpoint_url: tools.url }]);
      const projectId = await owner.api.createProject();
      const workflowId = await owner.api.createWorkflow(projectId, drawing(linkInRow([trigger(), helper])));
      assert.equal((await owner.api.run(workflowId)).status, 422, JSON.stringify(approval));
    }
  });
});
