// The published page is written from measured figures alone, its words included: never by hand.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Results } from '../results.js';
import { toMarkdown } from './render.js';
import { toTables } from './tables.js';

const PAGE = 'docs/evidence/benchmarks.md';
/** From `dist/bench/report/`. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export function writePage(results: Results): void {
  writeFileSync(path.join(ROOT, PAGE), toPage(results));
}

export function toPage(results: Results): string {
  return [TEXT, provenanceOf(results), ...toTables(results).map(toMarkdown)].join('\n');
}

function provenanceOf({ machine, settings, measuredAt }: Results): string {
  return `## Figures

\`${settings.command}\` on ${measuredAt.slice(0, 10)}: ${machine.cores} cores (${machine.model}), ${machine.memoryGib} GiB, ${machine.platform}, Node.js ${machine.node}; load of the machine before: ${machine.loadBefore}. ${settings.rounds} rounds of ${settings.seconds} s. Where three numbers stand for one figure, they are the lowest, the median and the highest round; the median is judged.
`;
}

const TEXT = `# Benchmarks

<!-- Written by \`npm run bench -- --write-docs\`: words are changed in bench/report/write-page.ts. -->

\`\`\`sh
npm run bench                                                # everything: about 20 minutes on two idle cores
npm run bench -- --quick                                     # a short look
npm run bench -- --only chain-5,kill --variants visible      # some rows, one variant
npm run bench -- --only chain-20 --against ../other-checkout # this build and another one in turn: does a change pay?
npm run bench -- --env-b LOG_LEVEL=warn                      # this build with and without a setting, in turn
npm run bench -- --write-docs                                # writes this page
\`\`\`

This is a benchmark and not a test: a figure that misses its limit is marked in the table, and nothing fails. Nothing else should run on the machine.

## What is compared

**The twin is a hand-written Temporal workflow** (\`bench/twin/workflows.ts\`) that makes the same HTTP calls with the same SDK on the same Temporal server. It has no drawing, no variables, no stored results and no bill. \`twin-normal\` has a gateway and a worker as two processes, as the service has an API and a worker. \`twin-eager\` is one process, which gets the first task of a workflow in the answer to its start. The gateway starts a workflow, waits for its result in memory, and answers polls from memory.

**The service** is measured as \`npm start\` runs it, in both ways of executing nodes, each on a stack of its own: \`visible\` (\`EXECUTION=visible\`, the default: one activity for each node) and \`dense\` (\`EXECUTION=dense\`: an activity walks on through requests, tool calls and code).

| job | what a run does |
|---|---|
| \`chain-5\`, \`chain-20\` | calls one after the other, each with a value of the previous answer in its address |
| \`fan-out-20\` | 20 calls side by side, then one that waits for all of them |
| \`branch\` | a call, a condition on its answer, a call on either side, one of which is made |
| \`diamonds\` | three conditions in a row, each with a call on either side whose ways meet again, then a call |
| \`for-each-100-by-5\`, \`for-each-100-by-20\` | a call for each of 100 items, so many side by side; one run at a time |

## How

- One client drives every subject: it starts a run, polls, and starts the next run at the first terminal answer. A run lasts from its start request to the first poll that reports its end. The target is a process that answers 75 bytes of JSON at once.
- All subjects take turns in each round, so that a ratio compares two measurements of the same minute. A ratio is computed for each round. With 20 runs at once a pause of eleven seconds comes before each measurement, because Temporal's timers of the previous subject expire ten seconds later and cost 3 to 5 % of two cores.
- A run is polled every 10 ms times the number of runs at once, so the client sends at most 100 polls a second. Each subject warms up for half a minute before the first round.
- A window of measurement opens when each lane has completed a run and closes at the end of another run, so the start and the end of the load are not in it. A run of which only a part lies in the window counts by that part.
- Processor time is what \`/proc\` reports for each process (PostgreSQL with its backends) in the window, divided by the runs in it.
- \`kill\`: \`kill -9\` of the worker in the middle of 20 chains. The target is the only witness: a call that had been answered and arrives again was repeated. A call on the wire may be made again.
- \`memory\`: what further waiting runs add to the worker, and resident memory in each third of a load of 20 at once.

Compare ratios and not milliseconds: another machine moves both sides. On two cores with 20 runs at once, runs/s is the inverse of all the processor time that a run takes in all processes; one run at a time shows latency.

## Where the time goes

\`\`\`sh
npm run --silent build
node dist/bench/breakdown.js --graph diamonds --variant visible                       # CPU of each process, statements of a run
node dist/bench/breakdown.js --graph chain-20 --variant dense --profile profiles      # and where each thread of the service is
\`\`\`

The profiles, one for each thread, also open in Chrome's developer tools.

Profiles of \`chain-5\` with 20 runs at once (2026-11-22) show what the visible mode costs beyond the twin. Temporal's own share is the same for both.

| process | processor time of a run beyond the twin's | what for |
|---|--:|---|
| worker | 6 ms | 11 SQL statements of 0.1 to 0.3 ms each, a local activity of about 3 ms for the trigger and for each condition, the report of the end |
| API | 6 ms | 4 ms to accept the run (4 statements, and the start of the workflow), 1.2 ms for each poll, 1.5 ms for the report |
| PostgreSQL | 7 to 8 ms | the same statements |

No function stands out. The cost is the record of each node, which the twin does not keep: who has claimed it, what it answered, when, and what it cost.

| tried | effect |
|---|---|
| workflow threads without stack traces and watchdogs ([ADR 15](../adr/0015-lean-workflow-threads.md)) | 14 % more runs/s: kept |
| polls that query the workflow only when nothing was stored for a second ([ADR 2](../adr/0002-polls-read-postgres.md)) | runs of more than a second no longer slow each other down: kept |
| first attempts without a claim | 3 to 5 %: left out |
| a Unix socket to PostgreSQL in place of TCP | 0.4 ms a run: left out |
| activities without heartbeat, priority and the longer time limit | none |
| statements of several nodes in one batch | none at 50 nodes a second: there is rarely a second one to wait for |

**Items of a for-each** (2026-11-23, one run at a time, on a machine that did other things, too). Before the ends of iterations were shared, an item took 1.90 times the time of the twin's with 5 at once and 2.09 times with 20, and 2.2 times the processor time of all processes. Beside that build, this one takes 0.89 and 0.81 times the time, and 0.89 and 0.77 times the processor time. What is left is the record of each node, as above, and the record of each iteration.

| tried for a for-each | effect on an item, 5 and 20 at once |
|---|---|
| no local activity at the end of an iteration (an experiment: nothing is recorded) | 1.1 ms of the worker and 0.45 ms of PostgreSQL less, of 7.7 ms in all |
| one local activity and one statement for iterations whose calls were answered together, and items of a loop kept in the worker | 0.8 ms and 1.9 ms less: kept |

What could bring the ratios closer, and is not done: to store the end of the trigger when the run is accepted (one local activity less), to run neighbouring triggers and conditions in one local activity, and to end an iteration in the activity of its last node.
`;
