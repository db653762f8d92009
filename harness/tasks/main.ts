// Plays the tasks of examples/tasks against a running service: npm run tasks -- --model M
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { playModel, playRecorded } from './play.js';
import { playTask, type Place } from './play-task.js';
import { readTasks } from './task.js';

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    only: { type: 'string' },
    url: { type: 'string' },
    key: { type: 'string' },
  },
});

const place = placeOf();
const prices = values.model === undefined ? undefined : await priceOf(place, values.model);
const sums = { held: 0, calls: 0, input: 0, output: 0 };
const tasks = readTasks().filter(({ name }) => values.only === undefined || name.includes(values.only));
for (const task of tasks) {
  const outcome = await playTask(place, task, (builder, project) =>
    values.model === undefined
      ? playRecorded(builder, task)
      : playModel(builder, task, { ...place, name: values.model, project }),
  );
  const { wrong, calls, tokens } = outcome;
  sums.held += Number(wrong.length === 0);
  sums.calls += calls;
  sums.input += tokens.input;
  sums.output += tokens.output;
  print(`${wrong.length === 0 ? 'holds' : 'FAILS'}  ${task.name}: ${calls} calls`);
  for (const sentence of wrong) print(`       ${sentence}`);
}
const cost = prices && (sums.input * prices.input + sums.output * prices.output) / 1e6;
print(
  `${sums.held} of ${tasks.length} hold; ${sums.calls} calls; ${sums.input} tokens in, ${sums.output} out` +
    (cost === undefined ? '' : `; ${cost.toFixed(4)} USD by the prices of the service`),
);
process.exitCode = sums.held === tasks.length ? 0 : 1;

/** Returns the service that `--url` and `--key` name, by default the one that `npm start` runs. */
function placeOf(): Place {
  if (values.url !== undefined && values.key !== undefined) return { url: values.url, apiKey: values.key };
  const stack = JSON.parse(readFileSync('.data/stack.json', 'utf8')) as { api_url: string; api_key: string };
  return { url: values.url ?? stack.api_url, apiKey: values.key ?? stack.api_key };
}

async function priceOf({ url, apiKey }: Place, name: string): Promise<{ input: number; output: number } | undefined> {
  const response = await fetch(`${url}/api/v1/models/`, { headers: { 'X-Api-Key': apiKey } });
  const models = (await response.json()) as Record<
    'id' | 'input_price_per_million' | 'output_price_per_million',
    string
  >[];
  const found = models.find(({ id }) => id === name);
  return found && { input: Number(found.input_price_per_million), output: Number(found.output_price_per_million) };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
