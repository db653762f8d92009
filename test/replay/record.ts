// `npm run histories [-- NAME...]`: runs the scenarios on a real stack and writes their Temporal histories.
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { closedHistories } from '../support/closed-histories.js';
import { startStack } from '../../harness/stack/stack.js';
import { wrapTemporal } from '../support/wrapped-temporal.js';
import { CURRENT_VERSION, writeHistories } from './history-files.js';
import { World, type Scenario } from './scenario.js';
import { scenarios } from './scenarios.js';
import { EVENTS_OF_AN_EXECUTION, scenariosOverExecutions } from './scenarios-over-executions.js';
import { DENSE, scenariosDense } from './scenarios-dense.js';

const wanted = new Set(process.argv.slice(2));
const known = { ...scenarios, ...scenariosOverExecutions, ...scenariosDense };
const unknown = [...wanted].filter((name) => !(name in known));
if (unknown.length > 0) throw new Error(`there is no scenario ${unknown.join(', ')}`);

await recordAll(scenarios, {});
await recordAll(scenariosDense, { env: DENSE });
const shortHistories = { 'limit.historyCount.suggestContinueAsNew': EVENTS_OF_AN_EXECUTION };
await recordAll(scenariosOverExecutions, { settings: shortHistories });

interface Surroundings {
  /** Settings of Temporal's server. */
  settings?: Record<string, unknown>;
  /** Variables of the stack's environment. */
  env?: Record<string, string>;
}

async function recordAll(all: Record<string, Scenario>, { settings = {}, env = {} }: Surroundings): Promise<void> {
  const chosen = Object.entries(all).filter(([name]) => wanted.size === 0 || wanted.has(name));
  if (chosen.length === 0) return;
  const temporal = await wrapTemporal(settings);
  const stack = await startStack({ env: { ...env, TEMPORAL_CLI: temporal.file } });
  const world = await World.open(stack);
  try {
    for (const [name, scenario] of chosen) {
      const runId = await scenario(world);
      const closed = await world.temporal((client) => closedHistories(client, runId));
      const histories = closed.toReversed().map(({ history }) => history as History);
      writeHistories(name, histories);
      const events = histories.map((history) => history.events!.length).join(' + ');
      process.stdout.write(`${CURRENT_VERSION}/${name}: ${events} events\n`);
    }
  } finally {
    await world.close();
    await stack.stop();
    temporal.remove();
  }
}
