import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { startQueuedRun } from '../../../db/conversations/queue-repository.js';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { readServiceFigures } from '../../../db/observability/metrics-repository.js';
import { insertAcceptedRun, type RunFacts } from '../../../db/runs/runs-repository.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createMigratedDatabase } from '../migrated-database.js';
import { openRun } from '../open-run.js';

const HOUR = 3_600;

describe('the age of the oldest run that has not started', function () {
  this.timeout(120_000);
  let own: Awaited<ReturnType<typeof createMigratedDatabase>>;
  let db: Database;

  before(async () => {
    own = await createMigratedDatabase();
    db = createDatabase({ url: own.url, poolMax: 4, applicationName: 'test', onError: () => undefined });
    const { user_id: userId } = (await sharedStack()).stack;
    for (let id = 0; id < userId;) {
      ({ id } = await db.insertInto('users').values({ name: 'x' }).returning('id').executeTakeFirstOrThrow());
    }
  });
  after(async () => {
    await db.destroy();
    await own.drop();
  });

  const ageOf = async (): Promise<number> => (await readServiceFigures(db, 30)).unstartedAgeSeconds;

  it('counts from the acceptance of the run, or from the moment at which it left its queue', async () => {
    const { id } = await openRun(db, ['http']);
    const { workflow_id, project_id, user_id, snapshot_hash } = await db
      .selectFrom('runs')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const facts = (): RunFacts => ({
      id: randomUUID(),
      workflow_id,
      project_id,
      user_id,
      snapshot_hash,
      input: '{}',
      is_plain: true,
    });
    const queued = facts();
    const conversation = {
      id: randomUUID(),
      workflow_id,
      project_id,
      author_id: user_id,
      inputs_enc: Buffer.alloc(1),
      title: '',
    };
    await db.insertInto('conversations').values(conversation).execute();
    await insertAcceptedRun(db, { ...queued, conversation_id: conversation.id, is_queued: true }, HOUR);
    const message = { id: randomUUID(), conversation_id: conversation.id, ordinal: 1, run_id: queued.id };
    await db
      .insertInto('conversation_messages')
      .values({ ...message, content: 'x', files: '[]' })
      .execute();
    await sql`UPDATE runs SET created_at = now() - interval '5 hours', updated_at = now() - interval '5 hours'
      WHERE id = ${queued.id}`.execute(db);
    assert.equal(await ageOf(), 0);
    assert.equal(await startQueuedRun(db, conversation.id, { run: queued, checkInSeconds: HOUR }), true);
    assert.ok((await ageOf()) < HOUR, 'the time in the queue does not count');

    const accepted = facts();
    await insertAcceptedRun(db, accepted, HOUR);
    await sql`UPDATE runs SET created_at = now() - interval '5 hours' WHERE id = ${accepted.id}`.execute(db);
    assert.ok((await ageOf()) >= 5 * HOUR);
  });
});
