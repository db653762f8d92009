// npm run load [-- --only a,b,c,d --runs 1000 --json]: puts load on the service, on a separate stack.
import { parseArgs } from 'node:util';
import { largePayloads } from './large-payloads.js';
import { printFindings, type Findings } from './report.js';
import { slowTargets } from './slow-targets.js';
import { smallRuns } from './small-runs.js';
import { startLoadStack, type LoadStack } from './stack.js';
import { stopOne, stopWhole } from './stops.js';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'a,b,c,d' },
    runs: { type: 'string', default: '1000' },
    'payload-bytes': { type: 'string', default: '5000000' },
    width: { type: 'string', default: '30' },
    chains: { type: 'string', default: '20' },
    'fan-outs': { type: 'string', default: '5' },
    'delay-ms': { type: 'string', default: '10000' },
    json: { type: 'boolean', default: false },
  },
});

const runs = Number(values.runs);
const large = {
  payloadBytes: Number(values['payload-bytes']),
  fanOutWidth: Number(values.width),
  chains: Number(values.chains),
  fanOuts: Number(values['fan-outs']),
};

const scenarios: Record<string, ((stack: LoadStack) => Promise<Findings>)[]> = {
  a: [(stack) => smallRuns(stack, runs)],
  b: [(stack) => largePayloads(stack, large)],
  c: [(stack) => slowTargets(stack, runs, Number(values['delay-ms']))],
  d: [
    (stack) => stopWhole(stack, runs),
    (stack) => stopOne(stack, 'api', runs),
    (stack) => stopOne(stack, 'worker', runs),
  ],
};

const letters = values.only.split(',').map((letter) => letter.trim());
const unknown = letters.filter((letter) => !Object.hasOwn(scenarios, letter));
if (unknown.length > 0) {
  throw new Error(`there is no scenario ${unknown.join(', ')}; --only takes ${Object.keys(scenarios).join(', ')}`);
}

const all: Findings[] = [];
// Each letter gets its own stack, so that calls and memory of one scenario are not counted in the next one.
for (const letter of letters) {
  const stack = await startLoadStack();
  let isSound = false;
  try {
    for (const scenario of scenarios[letter]!) {
      const findings = await scenario(stack);
      all.push(findings);
      if (!values.json) printFindings(findings);
    }
    isSound = holds(all);
  } finally {
    await stack.close(!isSound);
  }
}
if (values.json) console.log(JSON.stringify(all, undefined, 2));
if (!holds(all)) process.exitCode = 1;

function holds(findings: Findings[]): boolean {
  return !findings.some(({ claims }) => Object.values(claims).includes(false));
}
