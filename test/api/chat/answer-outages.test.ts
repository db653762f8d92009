// The database is away, or memory is short, while the run of a chat completion is followed or its answer is read.
import assert from 'node:assert/strict';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
} from 'kysely';
import { pino } from 'pino';
import { answerStream, answerWhole, type AnswerDeps, type AnsweredRun } from '../../../api/chat/answer-workflow.js';
import { followAnswer } from '../../../api/chat/follow-answer.js';
import { NoConnectionError } from '../../../db/core/outage.js';
import type { Tables } from '../../../db/core/tables.js';
import { ByteBudget, MemoryBusyError } from '../../../memory/byte-budget.js';

const RUN = 'a-run-of-a-chat';
const AN_HOUR = 3_600_000;

interface World {
  /** Returns the rows of a statement, or throws the error of the database. */
  query: () => object[];
  /** Returns the role of the caller, or throws the error of the database. */
  role?: () => string | null;
  events?: { version: number }[];
}

function worldOf({ query, role = () => 'editor', events = [] }: World) {
  class Driver extends DummyDriver {
    override acquireConnection(): Promise<DatabaseConnection> {
      const executeQuery = async () => ({ rows: query() as never[] });
      return Promise.resolve({ executeQuery, streamQuery: () => assert.fail('no statement is streamed') });
    }
  }
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new Driver(),
      createIntrospector: (of) => new PostgresIntrospector(of),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  const tail = { after: (read: number) => events.filter(({ version }) => version > read) };
  const following = { tail: () => tail, texts: () => undefined, end: () => undefined };
  const deps = {
    db,
    memory: new ByteBudget({ totalBytes: 1_000_000, uncountedBytes: 0 }),
    runHub: { isStopping: false, follow: () => following },
    sharedReads: { roleOf: async () => role() },
    config: {},
  } as unknown as AnswerDeps;
  const run = {
    runId: RUN,
    workflowId: 1,
    model: 'workflow:1',
    created: 1,
    reader: { userId: 1 },
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
  } as unknown as AnsweredRun;
  return { deps, run };
}

/** Returns the kinds of the news up to the first one for which `isLast` returns true. */
async function newsOf(world: World, aliveEveryMs: number, isLast: (kind: string) => boolean): Promise<string[]> {
  const { deps, run } = worldOf(world);
  const kinds: string[] = [];
  for await (const { kind } of followAnswer(deps, { ...run, aliveEveryMs, withDeltas: false })) {
    kinds.push(kind);
    if (isLast(kind)) break;
  }
  return kinds;
}

const REQUEST = { kind: 'human_task', id: 'task', tool: null, text: 'May it go?', expiresAt: '2030-01-01T00:00:00Z' };
const away = (): never => {
  throw new NoConnectionError();
};

describe('a run that answers a chat completion', () => {
  it('is followed on while the database is away at the periodic check, and reports its requests afterwards', async () => {
    let isAway = true;
    const world: World = {
      query: () => (isAway ? away() : [REQUEST]),
      role: () => (isAway ? away() : 'editor'),
    };
    const kinds = await newsOf(world, 1, (kind) => {
      if (kind === 'alive') isAway = false;
      return kind === 'asks';
    });
    assert.deepEqual(kinds, ['alive', 'asks']);
  });

  it('reports a request although the database is away when its event comes, and no further event follows', async () => {
    let reads = 0;
    const asking = { kind: 'human_task', status: 'pending', path: '', subject: 'task', version: 1, content: undefined };
    const world: World = { query: () => ((reads += 1) === 1 ? away() : [REQUEST]), events: [asking] };
    assert.deepEqual(await newsOf(world, AN_HOUR, () => true), ['asks']);
    assert.equal(reads, 2);
  }).timeout(30_000);

  it('is lost once the caller may not run the workflow, and an error that is no outage ends it', async () => {
    const lost: World = { query: () => [], role: () => 'viewer' };
    assert.deepEqual(await newsOf(lost, 1, () => false), ['lost']);
    const broken = () => {
      throw new Error('wrong statement');
    };
    await assert.rejects(
      newsOf({ query: broken }, 1, () => false),
      /wrong statement/,
    );
  });

  const ended = { kind: 'run', status: 'Succeeded', path: '', subject: '', version: 1, content: undefined };
  for (const [what, error, status, code] of [
    ['while the database is away', new NoConnectionError(), 503, 'unavailable'],
    ['while its disk is full', Object.assign(new Error('no space'), { code: '53100' }), 503, 'unavailable'],
    ['while memory is short', new MemoryBusyError(), 503, 'overloaded'],
    ['because of an unexpected error', new Error('a secret of the code'), 500, 'error'],
  ] as const) {
    it(`whose answer cannot be read ${what} ends with ${status} ${code}, without a retry`, async () => {
      const query = (): never => {
        throw error;
      };
      const { deps, run } = worldOf({ query, events: [ended] });
      const told = (message: string): void => {
        assert.equal(message.includes(RUN), status === 503, message);
        assert.doesNotMatch(message, /secret|no space|PostgreSQL/);
      };
      await assert.rejects(answerWhole(deps, run), (refused: Record<string, unknown>) => {
        assert.deepEqual([refused['status'], refused['code']], [status, code]);
        assert.deepEqual(refused['headers'], { 'x-should-retry': 'false' });
        told(String(refused['message']));
        return true;
      });
      const { body } = answerStream(deps, run, { withUsage: false, answering: new Set() });
      const frames: string[] = [];
      for await (const frame of body as AsyncIterable<Buffer>) frames.push(String(frame));
      const last = JSON.parse(frames.at(-1)!.slice('data: '.length)) as { error: { code: string; message: string } };
      assert.equal(last.error.code, code);
      told(last.error.message);
    });
  }
});
