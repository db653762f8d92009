// npm run scale [-- --seconds 20 --execution dense --json FILE]: measures the cost of a run, and how much work a second
// and a third process of each kind add (docs/operate/capacity.md). A cgroup limits each process to a share of a
// processor, so that the machine has capacity for three of them and for the processes that they use.
// `--rows 10000000` instead measures a table with that many node results before, while and after it is partitioned.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startStack } from '../../harness/stack/stack.js';
import { unlimitedKey } from '../../harness/stack/supervisor.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { measureLargeTable } from './large-table.js';
import { measureRun, type RunCost } from './run-cost.js';
import { measureApis, measureWorkers, type ScaleBed, type ScaleRow } from './rows.js';
import { canHold } from './share.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    rows: { type: 'string' },
    execution: { type: 'string', default: 'visible' },
    json: { type: 'string' },
  },
});

const target = await startHttpTarget();
const stack = await startStack({ env: { EXECUTION: values.execution } });
try {
  const bed = { stack, target, apiKey: await unlimitedKey(stack.dataDir), seconds: Number(values.seconds) };
  if (values.rows !== undefined) await measureLargeTable(bed, Number(values.rows), (line) => console.log(line));
  else await measureProcesses(bed);
} finally {
  await stack.stop();
  await target.close();
}

async function measureProcesses(bed: ScaleBed): Promise<void> {
  const cost = await measureRun(bed);
  printCost(cost);
  const rows: ScaleRow[] = [];
  const isAble = canHold();
  if (!isAble) process.stdout.write('SKIPPED: one process more, because control groups need Linux and root\n');
  for (const measure of isAble ? [measureWorkers, measureApis] : []) {
    for await (const row of measure(bed)) {
      rows.push(row);
      print(row, rows);
    }
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows, cost }, null, 2)}\n`);
}

function printCost({ cpuMs, tables, wal, temporal }: RunCost): void {
  const { api, worker, temporal: server, postgres } = cpuMs;
  process.stdout.write('A run of five HTTP nodes\n| processor time | ms |\n|---|---|\n');
  for (const [name, ms] of Object.entries({ API: api, worker, Temporal: server, PostgreSQL: postgres })) {
    process.stdout.write(`| ${name} | ${ms.toFixed(1)} |\n`);
  }
  const lines = [...tables, { name: "PostgreSQL's WAL", bytes: wal }, { name: "Temporal's store", bytes: temporal }];
  process.stdout.write('\n| on disk | bytes |\n|---|---|\n');
  for (const { name, bytes } of lines)
    process.stdout.write(`| ${name} | ${Math.round(bytes).toLocaleString('en')} |\n`);
}

function print(row: ScaleRow, rows: ScaleRow[]): void {
  const one = rows.find(({ what, processes }) => what === row.what && processes === 1)!;
  if (row === one) {
    process.stdout.write(`\n${row.what}, each process held to ${row.share} of a processor\n`);
    process.stdout.write(
      '| processes | a second | times one | busy: the processes | Temporal | PostgreSQL | machine |\n',
    );
    process.stdout.write('|---|---|---|---|---|---|---|\n');
  }
  const share = (of: number): string => `${Math.round(100 * of)} %`;
  const { processes, perSecond, busy } = row;
  const parts = [busy.processes / (row.share * processes), busy.temporal, busy.postgres, busy.machine].map(share);
  const times = (perSecond / one.perSecond).toFixed(2);
  process.stdout.write(`| ${processes} | ${perSecond.toFixed(1)} | ${times} | ${parts.join(' | ')} |\n`);
}
