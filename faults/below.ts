// Checks the invariants about data that the poll of a run does not show: nodes in bodies of loops, iterations, and the
// runs that nodes have started.
import { placeOf, type ExpectedNode, type RunEvidence, type StoredRun } from './evidence.js';
import type { Report } from './report.js';

export function checkBelow({ ending, firstTerminal, expected, stored, children }: RunEvidence, report: Report): void {
  if (stored === undefined) return;
  const open = [stored, ...children].flatMap((run) => [...run.nodes, ...run.iterations]).filter(isOpen);
  if (open.length > 0) report('data', `it has ended, and below it ${open.map(placeOf).join(', ')} is open`);
  for (const node of expected.filter(({ kind }) => kind === 'workflow')) {
    const own = children.filter(
      (run) => placeOf({ path: run.parentPath, nodeId: run.parentNodeId }) === placeOfNode(node),
    );
    if (own.length > 1) report('one child', `${node.label} has started ${own.length} runs`);
  }
  if (ending !== 'succeed' || firstTerminal?.status !== 'succeed') return;
  checkExecuted(expected, stored, report);
  for (const node of expected.filter(({ kind }) => kind === 'workflow')) checkChild(node, children, report);
}

function isOpen({ status }: { status: string }): boolean {
  return status === 'in progress';
}

/**
 * Checks that each expected node has succeeded, in each iteration with this iteration's result, that each loop has the
 * expected iterations, and that no other node was executed.
 */
function checkExecuted(expected: ExpectedNode[], { nodes, iterations }: StoredRun, report: Report): void {
  for (const node of expected) {
    const row = nodes.find((each) => placeOf(each) === placeOfNode(node));
    if (row?.status !== 'succeed') report('data', `${node.label} (${node.path ?? ''}) is ${row?.status ?? 'missing'}`);
    else if (!row.result?.includes(node.marker))
      report('data', `${node.label} (${node.path ?? ''}) has another result`);
    const own = iterations.filter(({ nodeId }) => nodeId === node.id);
    const done = own.filter(({ status }) => status === 'succeed');
    if (own.length !== (node.iterations ?? 0) || done.length !== own.length) {
      report('data', `${node.label} has ${own.length} iterations, and ${done.length} that succeeded`);
    }
  }
  const places = new Set(expected.map(placeOfNode));
  const strangers = nodes.filter((row) => !places.has(placeOf(row))).map(placeOf);
  if (strangers.length > 0) report('data', `it has executed nodes that must not run: ${strangers.join(', ')}`);
}

function checkChild(node: ExpectedNode, children: RunEvidence['children'], report: Report): void {
  const child = children.find(({ parentNodeId }) => parentNodeId === node.id);
  if (child === undefined) return report('one child', `${node.label} has a result and has started no run`);
  if (child.status !== 'Succeeded') report('one child', `${node.label} succeeded, and its run is ${child.status}`);
  checkExecuted(node.child ?? [], child, report);
}

function placeOfNode({ id, path }: ExpectedNode): string {
  return placeOf({ path: path ?? '', nodeId: id });
}
