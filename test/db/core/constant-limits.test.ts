import assert from 'node:assert/strict';
import { isListPage, type Database } from '../../../db/core/client.js';
import { endServedWaits, startWorkerWaits, sweepPoolNodes } from '../../../db/pools/pool-nodes-repository.js';
import { withdrawKey } from '../../../db/runs/idempotency-repository.js';
import { findOpenRequests } from '../../../db/runs/open-requests-repository.js';
import { endDeadChatCalls } from '../../../db/spending/chat-calls-repository.js';
import { playedDatabase } from '../../support/played-database.js';

describe('statements with a constant limit', () => {
  const cases: [name: string, call: (db: Database) => Promise<unknown>][] = [
    ['the open requests of a run', (db) => findOpenRequests(db, crypto.randomUUID())],
    ['the end of calls of dead processes', endDeadChatCalls],
    ['the deletion of expired keys', (db) => withdrawKey(db, { userId: 1, key: 'k' }, Buffer.from('sealed'))],
    ['the start of waits for workers', startWorkerWaits],
    ['the end of waits for workers', endServedWaits],
    ['the deletion of due nodes', sweepPoolNodes],
  ];
  for (const [name, call] of cases) {
    it(`are planned once, as they are no pages of a list: ${name}`, async () => {
      const sent: string[] = [];
      await call(playedDatabase(({ sql }) => ({ rows: [{ key: sent.push(sql) }] })));
      assert.ok(sent.some((text) => /\blimit \d/i.test(text)));
      assert.deepEqual(sent.filter(isListPage), []);
    });
  }
});
