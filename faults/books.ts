// Checks the invariants about money (one transaction per node, and equal sums in the database and the API), and that
// each accepted request has started a run of its own.
import { Decimal } from 'decimal.js';
import { placeOf, type Evidence, type ExpectedNode, type StoredRun } from './evidence.js';
import type { Report } from './report.js';

interface BookedRun {
  expected: ExpectedNode[];
  stored: StoredRun | undefined;
}

export function checkBooks({ expected, stored }: BookedRun, report: Report): void {
  if (stored === undefined) return;
  const { nodes, transactions } = stored;
  for (const { status, ...key } of nodes) {
    const node = expected.find(({ id, path }) => placeOf({ path, nodeId: id }) === placeOf(key));
    const label = node?.label ?? placeOf(key);
    const paid = transactions.filter((row) => placeOf(row) === placeOf(key));
    if (paid.length !== 1) report('billing', `${label} has ${paid.length} transactions`);
    const [row] = paid;
    if (row === undefined || node === undefined) continue;
    if (row.operation !== node.kind) report('billing', `the transaction of ${label} is for ${row.operation}`);
    const due = status === 'succeed' ? 'Succeeded' : 'Error';
    if (row.status !== due) report('billing', `the transaction of ${label} says ${row.status}, the node ${status}`);
    if (status === 'succeed' && !isSame(row.amountUsd, node.amountUsd)) {
      report('billing', `${label} costs ${node.amountUsd} and was billed ${row.amountUsd}`);
    }
  }
  const unexecuted = transactions.filter((row) => nodes.every((node) => placeOf(node) !== placeOf(row)));
  if (unexecuted.length > 0) report('billing', `${unexecuted.length} transactions of nodes that were not executed`);
  const sum = sumOf(transactions.map(({ amountUsd }) => amountUsd));
  if (!sum.equals(stored.costUsd)) report('sums', `its transactions are ${sum.toFixed()}, its cost ${stored.costUsd}`);
  if (!sum.equals(stored.shownCostUsd))
    report('sums', `the API shows ${stored.shownCostUsd}, its transactions are ${sum.toFixed()}`);
}

export function checkProject({ runs, project }: Evidence, report: Report): void {
  const all = runs.flatMap(({ stored, children }) => [...(stored === undefined ? [] : [stored]), ...children]);
  const costs = sumOf(all.map(({ costUsd }) => costUsd));
  const growth = new Decimal(project.spentAfterUsd).minus(project.spentBeforeUsd);
  if (!costs.equals(growth)) {
    report('sums', `the runs cost ${costs.toFixed()} in all, and total_spent grew by ${growth.toFixed()}`);
  }
  const accepted = runs.filter(({ runId }) => runId !== undefined);
  if (project.runs !== accepted.length) {
    report('accepted', `${accepted.length} runs were accepted, and the project has ${project.runs}`);
  }
  const ids = new Set(accepted.map(({ runId }) => runId));
  if (ids.size !== accepted.length) report('accepted', 'two requests with different keys were answered with one run');
}

/** Compares the values of decimal texts: 0.10 equals 0.1. */
function isSame(one: string, other: string): boolean {
  return new Decimal(one).equals(other);
}

function sumOf(amounts: string[]): Decimal {
  return amounts.reduce((sum, amount) => sum.plus(amount), new Decimal(0));
}
