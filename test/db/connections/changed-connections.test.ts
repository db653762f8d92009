import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { changeConnection } from '../../../db/connections/connections-repository.js';
import { insertSignIn } from '../../../db/connections/sign-ins-repository.js';
import type { Database } from '../../../db/core/client.js';
import { connect, openRun, type OpenRun } from '../open-run.js';

const FIELDS = { origins: ['https://a.example'], settings: {}, secretsEnc: Buffer.from('sealed') };

describe('a connection that is changed', function () {
  this.timeout(120_000);
  let db: Database;
  let run: OpenRun;
  let id: number;

  before(async () => {
    db = await connect();
    run = await openRun(db, ['http']);
  });
  after(() => db.destroy());

  beforeEach(async () => {
    const made = await db
      .insertInto('connections')
      .values({
        project_id: run.projectId,
        name: randomUUID(),
        kind: 'oauth2',
        origins: FIELDS.origins,
        settings: '{}',
        secrets_enc: FIELDS.secretsEnc,
        status: 'failing',
        status_reason: 'The provider refused it.',
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    id = made.id;
  });

  const change = (status: 'failing' | 'ready', movesSecrets: boolean) =>
    changeConnection(db, { ...FIELDS, id, projectId: run.projectId, name: randomUUID(), movesSecrets, status });
  const read = () =>
    db
      .selectFrom('connections')
      .select(['status', 'status_reason as reason', 'version'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();

  it('keeps the reason of its failure when it is renamed, and loses it with that status', async () => {
    assert.equal(await change('failing', false), 'changed');
    assert.deepEqual(await read(), { status: 'failing', reason: 'The provider refused it.', version: 1 });
    assert.equal(await change('ready', false), 'changed');
    assert.deepEqual(await read(), { status: 'ready', reason: null, version: 1 });
  });

  it('loses the reason of its failure when its secrets go to another address', async () => {
    assert.equal(await change('failing', true), 'changed');
    assert.equal((await read()).reason, null);
  });

  it('takes no sign-in that was prepared for an earlier address', async () => {
    const { version } = await read();
    const signIn = { connectionId: id, userId: run.userId, cookie: 'c', flowEnc: Buffer.from('sealed') };
    assert.equal(await insertSignIn(db, { ...signIn, version, state: randomUUID() }), true);
    await change('ready', true);
    assert.equal(await insertSignIn(db, { ...signIn, version, state: randomUUID() }), false);
    assert.equal(await insertSignIn(db, { ...signIn, version: version + 1, state: randomUUID() }), true);
    const left = await db
      .selectFrom('connection_sign_ins')
      .select('state_hash')
      .where('connection_id', '=', id)
      .execute();
    assert.equal(left.length, 1);
  });
});
