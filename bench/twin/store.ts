// The data that `twin-keeping` stores in the stack's PostgreSQL, in its own schema: a row for each run and one for each
// result.
import pg from 'pg';
import type { TwinAnswer, TwinJob } from './jobs.js';

export interface Store {
  openRun(runId: string, job: TwinJob): Promise<void>;
  /** If the result is the last one of the run, stores the end of the run too. */
  keepResult(result: KeptResult): Promise<void>;
  endRun(runId: string, status: 'succeed' | 'failed'): Promise<void>;
  readRun(runId: string): Promise<KeptRun | undefined>;
  close(): Promise<void>;
}

export interface KeptResult {
  runId: string;
  number: number;
  isLast: boolean;
  answer: TwinAnswer;
}

interface KeptRun {
  id: string;
  status: 'in progress' | 'succeed' | 'failed';
  results: { number: number; answer: TwinAnswer; kept_at: Date }[];
}

const TABLES = `
  CREATE SCHEMA IF NOT EXISTS twin_keeping;
  CREATE TABLE IF NOT EXISTS twin_keeping.runs (
    id uuid PRIMARY KEY,
    status text NOT NULL DEFAULT 'in progress',
    job json NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz
  );
  CREATE TABLE IF NOT EXISTS twin_keeping.results (
    run_id uuid NOT NULL,
    number integer NOT NULL,
    answer json NOT NULL,
    kept_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, number)
  )`;

/** The keys are the names of prepared statements, so each statement is parsed and planned once per connection. */
const STATEMENTS = {
  openRun: 'INSERT INTO twin_keeping.runs (id, job) VALUES ($1, $2)',
  // A retried activity does not store its result twice.
  keepResult: `INSERT INTO twin_keeping.results (run_id, number, answer) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
  keepLastResult: `WITH kept AS (
      INSERT INTO twin_keeping.results (run_id, number, answer) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
    ) UPDATE twin_keeping.runs SET status = 'succeed', ended_at = now() WHERE id = $1 AND status = 'in progress'`,
  endRun: `UPDATE twin_keeping.runs SET status = $2, ended_at = now() WHERE id = $1 AND status = 'in progress'`,
  readRun: `SELECT status, number, answer, kept_at FROM twin_keeping.runs LEFT JOIN twin_keeping.results ON run_id = id
    WHERE id = $1 ORDER BY number`,
};

type ReadRow = Pick<KeptRun, 'status'> & Omit<KeptRun['results'][number], 'number'> & { number: number | null };

export async function openStore(databaseUrl: string): Promise<Store> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 20, idleTimeoutMillis: 300_000 });
  pool.on('error', () => undefined);
  await pool.query(TABLES);
  const send = async <Row extends pg.QueryResultRow>(
    name: keyof typeof STATEMENTS,
    values: unknown[],
  ): Promise<Row[]> => {
    return (await pool.query<Row>({ name, text: STATEMENTS[name], values })).rows;
  };
  return {
    async openRun(runId, job) {
      await send('openRun', [runId, job]);
    },
    async keepResult({ runId, number, isLast, answer }) {
      await send(isLast ? 'keepLastResult' : 'keepResult', [runId, number, answer]);
    },
    async endRun(runId, status) {
      await send('endRun', [runId, status]);
    },
    async readRun(runId) {
      const rows = await send<ReadRow>('readRun', [runId]);
      if (rows.length === 0) return undefined;
      const results = rows.flatMap(({ number, answer, kept_at }) =>
        number === null ? [] : { number, answer, kept_at },
      );
      return { id: runId, status: rows[0]!.status, results };
    },
    close: () => pool.end(),
  };
}
