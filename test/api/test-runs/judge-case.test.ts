// Expectations are judged one by one. Those with a costly pattern are judged in another process.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
} from 'kysely';
import type { Db } from '../../../db/core/client.js';
import type { Tables } from '../../../db/core/tables.js';
import { judgeCase } from '../../../api/test-runs/judge-case.js';
import type { Expectation } from '../../../db/test-runs/cases-repository.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import { ProcessesBusyError, type Processes } from '../../../processes/processes.js';
import { perform, type Work } from '../../../processes/work.js';

describe('the expectations of a case', () => {
  // These expectations name no node and no output, so that nothing is read from the database.
  const expecting = (operator: Expectation['operator'], right: string): Expectation => ({ path: '', operator, right });
  const empty = expecting('==', '');
  const broken = expecting('matches', '({{ input.a }}');
  const costly = expecting('matches', 'a{900}');
  const processes: Processes = {
    run: async (work) => perform(work),
    close: () => undefined,
  };

  const budgetOf = (totalBytes: number) => new ByteBudget({ totalBytes, uncountedBytes: 0, patienceMs: 20 });
  const signal = new AbortController().signal;

  async function judge(
    expect: Expectation[],
    by: Processes = processes,
    {
      db = {} as Db,
      memory = budgetOf(1),
      runStatus = 'Succeeded',
    }: { db?: Db; memory?: ByteBudget; runStatus?: 'Succeeded' | 'Error' } = {},
  ) {
    const ended = { runStatus, errorCode: null, errorMessage: null, isCancelRequested: false };
    const result = { caseId: 1, runId: 'run', status: 'in progress' as const, costUsd: '0', ...ended };
    const judged = { ...result, detail: { expect, failures: [] } };
    return judgeCase({ db, memory, processes: by }, judged, { userId: 7, signal });
  }

  it('fail one by one where their pattern cannot be used, here and in a process', async () => {
    for (const expect of [
      [empty, broken, empty],
      [empty, broken, costly],
    ]) {
      const judged = await judge(expect);
      const failed = judged?.detail.failures.map(({ expectation }) => expectation);
      assert.deepEqual([judged?.status, failed], ['failed', expect.filter((each) => each !== empty)]);
    }
  });

  it('count for the user who runs the cases, and wait for a later round where the user has too much to judge', async () => {
    const owners: number[] = [];
    const busy: Processes = {
      ...processes,
      async run(_work, { owner }) {
        owners.push(owner);
        throw new ProcessesBusyError('Too much work waits.');
      },
    };
    assert.equal(await judge([costly], busy), undefined);
    assert.deepEqual(owners, [7]);
  });

  it('have their time for comparing, however long they wait for a process', async () => {
    let nowMs = 0;
    const clock = mock.method(performance, 'now', () => nowMs);
    const limits: number[] = [];
    const slow: Processes = {
      ...processes,
      async run(work, { limitMs, outside }) {
        limits.push(limitMs);
        await outside!(Promise.resolve().then(() => (nowMs += 25_000)));
        nowMs += 1_000;
        return perform(work);
      },
    };
    try {
      await judge(
        [
          { ...costly, path: 'a' },
          { ...costly, path: 'b' },
        ],
        slow,
      );
    } finally {
      clock.mock.restore();
    }
    assert.deepEqual(limits, [20_000, 19_000]);
  });

  it('excuse a failed run only by the failure that has ended it', async () => {
    const expect: Expectation[] = [{ node: 'large', path: 'error.code', operator: '==', right: 'http_status' }];
    for (const [isHandled, status] of [
      [false, 'passed'],
      [true, 'failed'],
    ] as const) {
      const failed = { status: 'failed', error_code: 'http_status', error_message: 'No.', is_handled: isHandled };
      const { db } = answering('', failed);
      const judged = await judge(expect, processes, { db, memory: budgetOf(1_000), runStatus: 'Error' });
      assert.deepEqual([judged?.status, judged?.detail.failures], [status, []]);
    }
  });

  it('end the case as an error if one of their values is too large to be rendered', async () => {
    const result = JSON.stringify({ content: 'x'.repeat(2 ** 20) });
    const path = Array.from({ length: 33 }, () => 'result.content').join(' }}{{ n.');
    const { db } = answering(result);
    const expect: Expectation[] = [{ node: 'large', path, operator: '==', right: 'x' }];
    const memory = budgetOf(100 * result.length);
    const judged = await judge(expect, processes, { db, memory });
    assert.deepEqual([judged?.status, judged?.detail.error?.code], ['error', 'rendered_too_large']);
    assert.equal(memory.heldBytes, 0);
  });

  describe('of a large result', () => {
    const text = 'x'.repeat(60_000);
    const result = JSON.stringify({ content: text, list: ['a', 'b'] });
    const ofNode = (path: string, right: string): Expectation => ({ node: 'large', path, operator: '==', right });
    const expect = [
      ...Array.from({ length: 100 }, () => ofNode('result.content', text)),
      ofNode('result.list[1]', 'b'),
      ofNode('result.list[0]', 'other'),
    ];

    it('read it once, and render each of its texts once', async () => {
      const texts: string[][] = [];
      const counting: Processes = {
        ...processes,
        async run(work) {
          texts.push((work as Work & { kind: 'questions' }).texts);
          return perform(work);
        },
      };
      const { db, statements } = answering(result);
      const judged = await judge(expect, counting, { db, memory: budgetOf(100 * result.length) });
      assert.deepEqual(
        judged?.detail.failures.map(({ expectation, actual }) => [expectation.path, actual]),
        [['result.list[0]', 'a']],
      );
      assert.equal(statements.filter((statement) => statement.includes('result::text')).length, 1);
      assert.deepEqual(texts, [[text]], 'all expectations of the text are compared together, with one copy of it');
    });

    it('wait for a later round while there is no memory for it, and give the memory back', async () => {
      const memory = budgetOf(10 * result.length);
      const other = memory.lease('user:8');
      await other.resize(9 * result.length);
      const { db, statements } = answering(result);
      assert.equal(await judge(expect, processes, { db, memory }), undefined);
      assert.ok(!statements.some((statement) => statement.includes('result::text')), 'it was not read');
      other.end();
      assert.equal((await judge(expect, processes, { db, memory }))?.status, 'failed');
      assert.equal(memory.heldBytes, 0);
    });

    it('end when the caller hangs up', async () => {
      const aborted = AbortSignal.abort(new Error('gone'));
      const waiting: Processes = {
        ...processes,
        run: async (_work, options) => options.signal.throwIfAborted() as never,
      };
      const { db } = answering(result);
      const judged = {
        caseId: 1,
        runId: 'run',
        status: 'in progress' as const,
        costUsd: '0',
        isCancelRequested: false,
      };
      const ended = { runStatus: 'Succeeded' as const, errorCode: null, errorMessage: null };
      const deps = { db, memory: budgetOf(100 * result.length), processes: waiting };
      await assert.rejects(
        judgeCase(deps, { ...judged, ...ended, detail: { expect, failures: [] } }, { userId: 7, signal: aborted }),
        /gone/,
      );
    });
  });
});

/** A database whose only node has this result, or has ended as `end` says. */
function answering(result: string, end: object = {}): { db: Db; statements: string[] } {
  const statements: string[] = [];
  const row = { node_id: 'large', path: '', status: 'succeed', error_code: null, error_message: null, ...end };
  const connection: DatabaseConnection = {
    executeQuery: ({ sql }: CompiledQuery) => {
      statements.push(sql);
      return Promise.resolve({ rows: [{ ...row, bytes: result.length, text: result }] as never[] });
    },
    streamQuery: () => assert.fail('nothing is streamed'),
  };
  const done = async (): Promise<void> => undefined;
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => ({
        init: done,
        acquireConnection: async () => connection,
        beginTransaction: done,
        commitTransaction: done,
        rollbackTransaction: done,
        releaseConnection: done,
        destroy: done,
      }),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return { db, statements };
}
