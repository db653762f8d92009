import assert from 'node:assert/strict';
import { createPerson, signedIn } from '../../api/sessions/people.js';
import { queryDatabase } from '../../support/inspect.js';
import { openRetention, type RetentionBench } from '../../support/retention-round.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';

describe('retention of what signing in leaves', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let retention: RetentionBench;

  before(async () => {
    stack = await sharedStack();
    retention = openRetention(stack);
  });
  after(() => retention.close());

  it('keeps a session for a month after it was ended or has expired, and every live one', async () => {
    const person = await createPerson(stack);
    await signedIn(stack, person);
    const ages: [name: string, endedDays: number | null, expiresDays: number][] = [
      ['ended long ago', -31, 5],
      ['ended lately', -29, 5],
      ['expired long ago', null, -31],
      ['expired lately', null, -29],
      ['live', null, 1],
    ];
    for (const [name, ended, expires] of ages) {
      await queryDatabase(
        stack,
        `INSERT INTO sessions (user_id, method, family_hash, token_hash, network, user_agent, expires_at, ended_at)
         VALUES ($1, 'password', sha256($2::text::bytea), '', '', $3,
           now() + make_interval(days => $4), now() + make_interval(days => $5))`,
        [person.userId, `${person.email} ${name}`, name, expires, ended],
      );
    }
    await retention.round();
    const rows = await queryDatabase<{ name: string }>(
      stack,
      `SELECT user_agent AS name FROM sessions WHERE user_id = $1 AND network = '' ORDER BY 1`,
      [person.userId],
    );
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['ended lately', 'expired lately', 'live'],
    );
  });

  it('deletes links that nobody can use any more, and minutes and turns that are over', async () => {
    const { userId } = await createPerson(stack);
    const mark = Buffer.from(`mark of user ${userId}`);
    for (const [table, rest] of [
      ['login_failures', 'failures, ends_at) VALUES ($1, 1, $2)'],
      ['login_waits', 'ready_at, ends_at) VALUES ($1, now(), $2)'],
      ['sign_in_links', `user_id, expires_at) VALUES ($1, ${userId}, $2)`],
    ] as const) {
      const key = table === 'sign_in_links' ? 'token_hash' : 'key';
      for (const [name, seconds] of [
        ['over', -1],
        ['good', 600],
      ] as const) {
        const insert = `INSERT INTO ${table} (${key}, ${rest}`;
        await queryDatabase(stack, insert, [
          Buffer.concat([mark, Buffer.from(name)]),
          new Date(Date.now() + seconds * 1000),
        ]);
      }
      await retention.round();
      const left = await queryDatabase<{ key: Buffer }>(
        stack,
        `SELECT ${key} AS key FROM ${table} WHERE ${key} = ANY ($1)`,
        [['over', 'good'].map((name) => Buffer.concat([mark, Buffer.from(name)]))],
      );
      assert.deepEqual(
        left.map(({ key: found }) => found.toString().slice(mark.length)),
        ['good'],
        table,
      );
    }
  });
});
