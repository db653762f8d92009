// Seeds a workflow with runs (unless --workflow names one) and one of them with as many approval requests, and prints the
// plans behind history, billing, approvals, the list of all runs and usage. For the last two, fill many workflows first
// (seed-runs.ts --workflows 1000), in several projects:
//   DATABASE_URL=... npx tsx bench/list-plans.ts --user 1 --project 1 --runs 100000
import { parseArgs } from 'node:util';
import { createDatabase, type Database } from '../db/core/client.js';
import { listRunTransactions } from '../db/spending/billing-repository.js';
import { readUsage } from '../db/spending/usage-repository.js';
import { listRuns, type RunsQuery } from '../db/runs/runs-list-repository.js';
import { listRequestsInReach, type ApprovalFilter } from '../db/agents/approval-requests-repository.js';
import { listHistory, type HistoryOrdering } from '../db/runs/history-repository.js';
import { explainRead } from '../test/support/explain.js';
import { seedApprovals } from '../test/support/seed-approvals.js';
import { seedRuns, seedWorkflows } from '../test/support/seed-runs.js';

interface Question {
  title: string;
  read: (db: Database) => Promise<unknown>;
}

const { values } = parseArgs({
  options: {
    user: { type: 'string', default: '1' },
    project: { type: 'string', default: '1' },
    workflow: { type: 'string' },
    runs: { type: 'string', default: '100000' },
    plans: { type: 'boolean', default: false },
  },
});
const url = process.env['DATABASE_URL'] ?? '';
const userId = Number(values.user);
const runs = Number(values.runs);
const everyRun: RunsQuery = {
  purpose: 'run',
  reach: { userId },
  projectId: undefined,
  workflowId: undefined,
  status: undefined,
  search: undefined,
  startedFrom: undefined,
  startedBefore: undefined,
  ordering: '-created_at',
  limit: 10,
  offset: 0,
};
const db = createDatabase({ url, poolMax: 1, applicationName: 'bench', onError: () => undefined });
try {
  const workflowId = values.workflow === undefined ? await seedOne() : Number(values.workflow);
  const { id: runId } = await db
    .selectFrom('runs')
    .select('id')
    .where('workflow_id', '=', workflowId)
    .limit(1)
    .executeTakeFirstOrThrow();
  const total = await countRuns();
  if (values.workflow === undefined) await seedApprovals(db, { runId, count: runs, pending: 10 });
  const ofRuns = [...historyQuestions(workflowId), billingQuestion(runId), ...finderQuestions(total)];
  const questions = [...ofRuns, ...approvalQuestions(), ...usageQuestions()];
  for (const question of questions) await answer(question);
} finally {
  await db.destroy();
}

async function seedOne(): Promise<number> {
  const [workflowId = 0] = await seedWorkflows(db, { projectId: Number(values.project), userId, count: 1 });
  await seedRuns(db, { userId, workflowIds: [workflowId], runs });
  console.log(`seeded workflow ${workflowId}`);
  return workflowId;
}

function historyQuestions(workflowId: number): Question[] {
  const pages: [name: string, offset: number][] = [
    ['first page', 0],
    ['page in the middle', Math.floor(runs / 2)],
    ['last page', runs - 10],
  ];
  const orderings: HistoryOrdering[] = ['-created_at', 'created_at', '-cost', 'cost'];
  return orderings.flatMap((ordering) =>
    pages.map(([name, offset]) => ({
      title: `history \`${ordering}\`, ${name}`,
      read: (reader: Database) => listHistory(reader, { workflowId, purpose: 'run', ordering, limit: 10, offset }),
    })),
  );
}

function billingQuestion(runId: string): Question {
  return {
    title: 'billing of one run',
    read: (reader) => listRunTransactions(reader, { runId, reach: { userId }, limit: 10, offset: 0 }),
  };
}

async function countRuns(): Promise<number> {
  return (await listRuns(db, { ...everyRun, ordering: 'created_at', limit: 0, offset: 0 })).total;
}

/** All runs that the user sees, in pages and with filters. */
function finderQuestions(total: number): Question[] {
  const week = new Date(Date.now() - 7 * 86_400_000);
  const cases: [name: string, query: Partial<RunsQuery>][] = [
    ['first page', {}],
    ['page in the middle', { offset: Math.floor(total / 2) }],
    ['last page', { offset: total - 10 }],
    ['`-cost`', { ordering: '-cost' }],
    ['`status=Error`', { status: 'Error' }],
    ['`status=Error`, `-cost`', { status: 'Error', ordering: '-cost' }],
    ['of a week', { startedFrom: week }],
    ['`search=1`', { search: '1' }],
  ];
  return cases.map(([name, query]) => ({
    title: `runs, ${name}`,
    read: (reader) => listRuns(reader, { ...everyRun, ...query }),
  }));
}

function usageQuestions(): Question[] {
  const [from, until] = [new Date(Date.now() - 30 * 86_400_000), new Date()];
  return (['day', 'project', 'workflow', 'model', 'node_kind'] as const).map((groupBy) => ({
    title: `usage by ${groupBy}`,
    read: (reader) => readUsage(reader, { reach: { userId }, projectId: undefined, groupBy, from, until }),
  }));
}

function approvalQuestions(): Question[] {
  const statuses: (ApprovalFilter | undefined)[] = ['pending', 'decided', undefined];
  return statuses.map((status) => ({
    title: `approvals, ${status ?? 'all'}, first page`,
    read: (reader) => listRequestsInReach(reader, { reach: { userId }, status, limit: 10, offset: 0 }),
  }));
}

async function answer({ title, read }: Question): Promise<void> {
  const statements = await explainRead(url, read);
  const total = statements.reduce((sum, { tookMs }) => sum + tookMs, 0);
  const slowest = statements.toSorted((a, b) => b.tookMs - a.tookMs)[0];
  console.log(`| ${title} | ${statements.length} | ${total.toFixed(1)} | ${slowest?.tookMs.toFixed(1)} |`);
  if (values.plans) for (const { sql, plan } of statements) console.log(`\n${sql}\n${plan.join('\n')}\n`);
}
