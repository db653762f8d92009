// Checks docs/evidence/weaknesses.md: each weakness names, in the last two cells of its row, a test that exists.
import { problemOf, rowsOf } from './named-tests.mjs';

const DOCUMENT = 'docs/evidence/weaknesses.md';

const rows = rowsOf(DOCUMENT).filter((cells) => cells.length === 3 && cells[0] !== 'weakness');
for (const [weakness, file, title] of rows) {
  const problem = problemOf(file, title);
  if (problem === undefined) continue;
  console.error(`${DOCUMENT}, "${weakness}": ${problem}`);
  process.exitCode = 1;
}
console.log(`${rows.length} weaknesses`);
