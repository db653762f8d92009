// Tasks for an assistant (examples/tasks): its recorded tool calls and answers are played against the real tools.
import assert from 'node:assert/strict';
import type { TestStack } from '../../harness/stack/stack.js';
import { connectBuilder } from '../../harness/tasks/builder.js';
import { judge } from '../../harness/tasks/judge.js';
import { playModel, playRecorded } from '../../harness/tasks/play.js';
import { playTask } from '../../harness/tasks/play-task.js';
import { readTasks } from '../../harness/tasks/task.js';
import { createAccount, type Account } from '../api/accounts.js';
import { sharedStack } from '../support/shared-stack.js';

/** By task: what a tool answers when it refuses the wrong call that the recording contains. */
const REFUSED: Record<string, RegExp> = {
  repair: /check has errors/,
  'stale-base': /changed since you read it/,
  'literal-credential': /Name a connection/,
  'unknown-kind': /no kind "email-node"/,
};

const tasks = readTasks();

describe('the tasks in words', function () {
  this.timeout(180_000);
  let stack: TestStack;
  let account: Account;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
  });

  const place = () => ({ url: stack.apiUrl, apiKey: account.apiKey });

  it('are thirty', () => assert.equal(tasks.length, 30));

  for (const task of tasks) {
    it(`${task.name} ends in a drawing that meets the requirements, or says what is missing`, async () => {
      const { wrong, refusals } = await playTask(place(), task, (builder) => playRecorded(builder, task));
      assert.deepEqual(wrong, []);
      const expected = REFUSED[task.name.replace(/^\d+-/, '')];
      if (expected === undefined) assert.deepEqual(refusals, []);
      else assert.match(refusals.join('\n'), expected);
    });
  }

  it('are judged: an almost empty drawing misses requirements of every task', async () => {
    const builder = await connectBuilder(stack.apiUrl, account.apiKey);
    const project = await account.api.createProject();
    const changes = [{ add: { id: 'other', kind: 'trigger-node' } }];
    const { id } = await builder.read<{ id: number }>('edit_workflow', { project, title: 'Nothing', changes });
    for (const { name, must } of tasks) {
      const wrong = await judge(builder, must, { id, said: 'Done.' });
      assert.ok(wrong.length > 0, name);
      const none = await judge(builder, must, { id: undefined, said: '' });
      assert.ok(none.length > 0 || must.nothing === true, name);
    }
    await builder.close();
  });

  it('can be played by a model of the service, which may answer with words alone', async () => {
    const task = tasks.find(({ name }) => name.endsWith('prose'))!;
    const { said, tokens, wrong } = await playTask(place(), task, (builder, project) =>
      playModel(builder, task, { ...place(), name: 'test-model', project }),
    );
    assert.ok(said.length > 0 && tokens.input > 0);
    assert.equal(
      wrong.some((sentence) => sentence.includes('A workflow was made')),
      false,
    );
  });
});
