// The tests of n8n's own nodes, imported and played: a node gives the results that n8n expects, or has a warning.
import assert from 'node:assert/strict';
import process from 'node:process';
import { groupBy } from '../../../n8n/n8n-file.js';
import { judgeTest, type Judged, type Verdict } from './judge-test.js';
import { readTests, whyMissing } from './n8n-tests.js';
import { answersFor } from './answers.js';

const VERDICTS: readonly Verdict[] = ['agrees', 'warned', 'differs silently', 'does not run', 'left out'];

describe("the tests of n8n's own nodes", function () {
  this.timeout(600_000);
  const judged: Judged[] = [];

  before(async function () {
    if (whyMissing !== undefined) {
      process.stdout.write(`      ${whyMissing}\n`);
      this.skip();
    }
    for (const test of readTests()) judged.push(...(await judgeTest(test, { answer: await answersFor(test.file) })));
    process.stdout.write(`${tableOf(judged)}\n`);
    if (process.env['N8N_DETAILS'] !== undefined) process.stdout.write(detailsOf(judged));
  });

  it('agree for at least 400 results', () => {
    assert.ok(withVerdict('agrees').length >= 400, `${withVerdict('agrees').length} of ${judged.length}`);
  });

  it('differ nowhere without a warning on the node', () => {
    assert.deepEqual(
      withVerdict('differs silently').map(({ test, node, detail }) => `${test}: ${node}: ${detail}`),
      [],
    );
  });

  it('have a warning at 5 of 100 nodes that agree, at most', () => {
    const agreeing = withVerdict('agrees');
    const warned = agreeing.filter(({ hasWarning }) => hasWarning);
    assert.ok(warned.length <= agreeing.length / 20, `${warned.length} of ${agreeing.length}`);
  });

  function withVerdict(verdict: Verdict): Judged[] {
    return judged.filter((each) => each.verdict === verdict);
  }
});

/** Returns a table of Markdown: how many results of each type of node have which verdict. */
function tableOf(judged: readonly Judged[]): string {
  const types = groupBy(judged, ({ type }) => type.replace(/^n8n-nodes-base\./, ''));
  const rows = [...types, ['all', judged] as const]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .map(([type, list]) => [type, list.length, ...VERDICTS.map((verdict) => countOf(list, verdict))]);
  return [['node', 'results', ...VERDICTS], ['---', '---', ...VERDICTS.map(() => '---')], ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');
}

function countOf(judged: readonly Judged[], verdict: Verdict): number {
  return judged.filter((each) => each.verdict === verdict).length;
}

function detailsOf(judged: readonly Judged[]): string {
  return judged
    .filter(({ verdict, hasWarning }) => verdict !== 'agrees' || hasWarning)
    .map(({ test, node, type, verdict, detail }) => `${verdict} ${type} ${test} "${node}"\n      ${detail}\n`)
    .join('');
}
