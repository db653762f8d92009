import assert from 'node:assert/strict';
import type { ConversationDeps } from '../../../api/conversations/deps.js';
import { startNextQueued } from '../../../api/conversations/start-queued.js';
import { playedDatabase } from '../../support/played-database.js';

const RUN = 'run';

describe('a queued run', () => {
  /** Fakes a database with a queued run whose turn has come. `ended` is its status when the service tries to end it. */
  const databaseOf = (authorRole: string | null, ended = 'In Progress') =>
    playedDatabase(({ sql }) => {
      const message = { id: 'm', conversationId: 'c', workflowId: 1, projectId: 1, authorRole, isChat: true };
      if (sql.includes('"authorRole"')) return { rows: [message] };
      if (sql.includes('"isQueued"')) return { rows: [{ id: RUN, isQueued: true, isWaiting: false }] };
      if (sql.includes('cancel_requested_at')) return { rows: [{ status: ended, sequence: 9 }] };
      return { rows: [{ ordinal: 1, bytes: 1 }] };
    });

  it('whose end was reported by another process is not announced a second time', async () => {
    const announced: object[] = [];
    const metrics = { runsEnded: { inc: (labels: object) => announced.push(labels) } };
    const deps = { db: databaseOf(null, 'Error'), metrics } as unknown as ConversationDeps;
    assert.equal(await startNextQueued(deps, RUN, new AbortController().signal), 'later');
    assert.deepEqual(announced, []);
  });

  it('does not go on waiting for memory or for its turn when the process stops', async () => {
    const stopping = new AbortController();
    const reason = new Error('the process stops');
    const lease = (_tenant: string, signal: AbortSignal) => ({
      bytes: 0,
      resize: () =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
          stopping.abort(reason);
        }),
      end: () => undefined,
    });
    const deps = { db: databaseOf('editor'), memory: { lease } } as unknown as ConversationDeps;
    await assert.rejects(startNextQueued(deps, RUN, stopping.signal), reason);
  });
});
