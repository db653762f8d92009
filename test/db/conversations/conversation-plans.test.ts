import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { findBaseline } from '../../../db/conversations/baselines-repository.js';
import { findAssistantConversation, pageOfConversations } from '../../../db/conversations/conversations-repository.js';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { createApiClient } from '../../../harness/client/api-client.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { explainRead } from '../../support/explain.js';
import { queryDatabase } from '../../support/inspect.js';
import { seedWorkflows } from '../../support/seed-runs.js';
import { sharedStack } from '../../support/shared-stack.js';

const CONVERSATIONS = 20_000;
const BASELINES = 2_000;

describe('20,000 conversations of a workflow', function () {
  this.timeout(120_000);
  let url: string;
  let userId: number;
  let workflowId: number;

  before(async () => {
    const stack = await sharedStack();
    url = stack.stack.database_url;
    userId = stack.stack.user_id;
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    const projectId = await api.createProject();
    workflowId = await api.createWorkflow(projectId, chain(1));
    const db = createDatabase({ url, poolMax: 1, applicationName: 'test', onError: () => undefined });
    const others = await seedWorkflows(db, { projectId, userId, count: BASELINES });
    await db.destroy();
    const insert = `INSERT INTO conversations (id, workflow_id, project_id, author_id, purpose, title, inputs_enc)
      SELECT gen_random_uuid(), $1, $2, $3, $4, '', '\\x00' FROM generate_series(1, $5::integer)`;
    const place = [workflowId, projectId, userId];
    await queryDatabase(stack, insert, [...place, 'chat', CONVERSATIONS]);
    await queryDatabase(stack, insert, [...place, 'assistant', 1]);
    await queryDatabase(
      stack,
      `INSERT INTO answer_baselines (conversation_id, run_id, workflow_id, user_id, base_version)
        SELECT conversation.id, $3, other.id, $2, 1
        FROM unnest($4::integer[]) WITH ORDINALITY AS other (id, ordinal)
        JOIN (SELECT id, row_number() OVER () AS ordinal FROM conversations WHERE workflow_id = $1) AS conversation
          USING (ordinal)`,
      [workflowId, userId, randomUUID(), others],
    );
    // Index-only scans are cheap once the visibility of rows is known.
    await queryDatabase(stack, 'VACUUM (ANALYZE) conversations, answer_baselines');
  });

  const plansOf = async (read: (reader: Database) => Promise<unknown>): Promise<string[]> =>
    (await explainRead(url, read)).map(({ plan }) => plan.join('\n'));

  it('are counted and paged by an index alone', async () => {
    const query = { workflowId, authorId: userId, endUser: undefined, limit: 10, offset: 100 };
    const plans = await plansOf((db) => pageOfConversations(db, query));
    assert.equal(plans.length, 2);
    for (const plan of plans) {
      assert.match(plan, /Index Only Scan.* using conversations_of_workflow/);
      assert.doesNotMatch(plan, /Seq Scan on conversations|Sort Key: conversations.created_at DESC[^]*rows=20000/);
    }
  });

  it('with the assistant and what the draft was before its answer are found by the indexes of both', async () => {
    const [conversation] = await plansOf((db) => findAssistantConversation(db, workflowId, userId));
    assert.match(conversation!, /using conversations_of_assistants/);
    const [baseline] = await plansOf((db) => findBaseline(db, { workflowId, userId }));
    assert.match(baseline!, /using answer_baselines_of_user/);
  });
});
