// Generates the published page from the measured figures. The texts of the page are in this file too.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Results } from '../results.js';
import { toMarkdown } from './render.js';
import { toPageTables } from './tables.js';

const PAGE = 'docs/evidence/benchmarks.md';
/** Relative to `dist/bench/report/`. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export function writePage(results: Results): void {
  writeFileSync(path.join(ROOT, PAGE), toPage(results));
}

export function toPage(results: Results): string {
  return [TEXT, provenanceOf(results), ...toPageTables(results).map(toMarkdown)].join('\n');
}

function provenanceOf({ machine, settings, measuredAt }: Results): string {
  return `## Figures

\`${settings.command}\` on ${measuredAt.slice(0, 10)}: ${machine.cores} cores (${machine.model}), ${machine.memoryGib} GiB, ${machine.platform}, Node.js ${machine.node}; load of the machine before: ${machine.loadBefore}. ${settings.rounds} rounds of ${settings.seconds} s. Where three numbers stand for one figure, they are the lowest, the median and the highest round; the median is judged.
`;
}

const TEXT = `# Benchmarks

<!-- Written by \`npm run bench -- --write-docs\`: words are changed in bench/report/write-page.ts. -->

\`\`\`sh
npm run bench                                                # everything: 100 minutes in five rounds on two idle cores
npm run bench -- --quick                                     # a short look
npm run bench -- --only costs                                # what a request, a poll, a run, a node and an item cost
npm run bench -- --only chain-20 --against ../other-checkout # this build and another one in turn: does a change pay?
npm run --silent build && node dist/bench/breakdown.js --graph diamonds --variant visible    # statements and processor time of a run; --profile FOLDER
npm run bench -- --target-port 9100 --beside chain-5=http://127.0.0.1:5678/webhook/chain5    # beside anything that makes the same calls
\`\`\`

A figure that misses its limit is marked, and nothing fails. Compare ratios and not milliseconds: another machine moves both sides.

**The twin is a hand-written Temporal workflow** (\`bench/twin/workflows.ts\`) that makes the same HTTP calls on the same Temporal server. It has no drawing, no bill and no users. \`twin-normal\` has a gateway and a worker, as the service has an API and a worker; \`twin-eager\` is both in one process, which gets the first task of a workflow in the answer to its start. Their gateway answers polls from memory. \`twin-keeping\` is \`twin-normal\` with what a durable service cannot do without: a row for each run and for each result, written by prepared statements into the PostgreSQL of the service, and polls that are answered from there. **The service** is measured as \`npm start\` runs it, on a stack for each mode of execution (\`visible\`, \`dense\`).

| job | what a run does |
|---|---|
| \`chain-5\`, \`chain-20\` | calls one after the other, each with a value of the previous answer in its address |
| \`fan-out-20\` | 20 concurrent calls, then one that waits for all of them |
| \`branch\` | a call, a condition on its answer, a call on either side |
| \`diamonds\` | three conditions in a row, each with a call on either side, then a call |
| \`for-each-100-by-5\`, \`for-each-100-by-20\` | a call for each of 100 items, so many at once; one run at a time |

- One client starts a run, polls it, and starts the next run at the first terminal answer. It polls a single run every 10 ms, and each of many every 50 ms (impatient) or every 500 ms. The target answers 75 bytes of JSON at once.
- A window of measurement leaves out the start and the end of the load. Processor time is that of \`/proc\` for each process in the window, divided by the runs in it.
- \`costs\` divides the processor time of each process by how often a thing was done, four requests or 20 runs at once. A request is a \`GET\` of \`/models/\`, which reads nothing but its key. A start is measured while the worker stands still; its run is not waited for. A node is a fifteenth of what a chain of 20 costs beyond one of 5, an item a hundredth of a \`for-each\`. What clients and streams cost is what a run costs beyond one that nobody asks about. In a crowd, 20 keys ask about 50 runs in flight.
- \`--beside\` measures the service and a POST that is answered at the end in the same rounds; the client of the service waits, too (\`Prefer: wait\`). The other side has been set up to call the target: \`chain-5\` and \`chain-20\` are calls one after the other, \`fan-20\` is 20 at once. The service then makes the call that the target has seen, and the row names it.
- \`kill\` is \`kill -9\` of the worker in the middle of 20 chains. A call that had been answered and arrives at the target again was repeated.
`;
