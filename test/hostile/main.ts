// `npm run test:hostile`: plays all attacks in order on a stack under the limits of docker-compose.yml, while a victim
// works (docs/operate/security.md). The last line of the output is "N passed, N failed". Options:
//   --short           plays a few attacks in shorter rounds, for .ci/run
//   --only NAME       plays this attack (may be repeated); --list prints all names
//   --seconds N       measures the victim for N seconds in each round
//   --once            plays no round a second time
//   --attackers       also prints the answers that the attackers got
//   --json FILE       writes the rows
//   --markdown FILE   writes the table of docs/operate/security.md
//   --keep            leaves the data and logs of the stack
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { attacks } from './attacks/all.js';
import { NOBODY, type Attack } from './harness/attack.js';
import { playRound, type Row, type RoundOptions, type Shared } from './harness/round.js';
import { HEAD, LEGEND, toMarkdown, toOutcomes, toRowLine } from './harness/table.js';
import { startWorld, type World } from './harness/world.js';

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    list: { type: 'boolean', default: false },
    seconds: { type: 'string' },
    once: { type: 'boolean', default: false },
    attackers: { type: 'boolean', default: false },
    json: { type: 'string' },
    markdown: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});

const SHORT: RoundOptions = { leadMs: 500, measureMs: 2_000, endWithinMs: 10_000 };
const WHOLE: RoundOptions = { leadMs: 2_000, measureMs: 6_000, endWithinMs: 20_000 };
const QUIET_TRIES = 3;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

if (values.list) for (const { name, title } of attacks) print(`${name.padEnd(28)} ${title}`);
else process.exitCode = (await main()) ? 0 : 1;

async function main(): Promise<boolean> {
  const chosen = [NOBODY, ...choose()];
  const options = { ...(values.short ? SHORT : WHOLE) };
  if (values.seconds !== undefined) options.measureMs = 1000 * Number(values.seconds);
  const world = await startWorld();
  const closeAndExit = (): void => void world.close({ keep: values.keep }).finally(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, closeAndExit);
  const rows: Row[] = [];
  try {
    print(describe(world));
    print(`${LEGEND}\n\n${HEAD}`);
    const shared: Shared = new Map();
    for (const attack of chosen) {
      rows.push(await playFairly(world, attack, shared, options));
      print(toRowLine(rows.at(-1)!));
      if (values.attackers) print(`    ${toOutcomes(rows.at(-1)!)}`);
    }
  } finally {
    await world.close({ keep: values.keep });
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
  if (values.markdown !== undefined) {
    const lines = attacks.flatMap((attack) => {
      const row = rows.find(({ attack: name }) => name === attack.name);
      return row === undefined ? [] : [toMarkdown(attack, row)];
    });
    writeFileSync(values.markdown, `${lines.join('\n')}\n`);
  }
  const failed = rows.filter(({ reasons }) => reasons.length > 0).length;
  print(`${rows.length - failed} passed, ${failed} failed`);
  return failed === 0;
}

/** Repeats a round that has failed while no process has ended, because the machine may only have been busy. */
async function playFairly(world: World, attack: Attack, shared: Shared, options: RoundOptions): Promise<Row> {
  const first = await playAndRecover(world, attack, shared, options);
  if (values.once || first.reasons.length === 0 || first.isDeadly) return first;
  const isQuiet = await untilQuiet(world, options);
  const second = await playAndRecover(world, attack, shared, options);
  if (second.reasons.length > 0 && !isQuiet) second.reasons.push('the victim alone waited too long, too');
  return second;
}

/** Returns true once the victim alone does not wait too long, or false after a few tries. */
async function untilQuiet(world: World, options: RoundOptions): Promise<boolean> {
  for (let tries = 0; tries < QUIET_TRIES; tries += 1) {
    const alone = await playRound(world, NOBODY, new Map(), { ...options, measureMs: SHORT.measureMs });
    if (alone.reasons.length === 0) return true;
  }
  return false;
}

async function playAndRecover(world: World, attack: Attack, shared: Shared, options: RoundOptions): Promise<Row> {
  const row = await playRound(world, attack, shared, options).catch((error: unknown) => brokenRow(attack, error));
  if (row.reasons.length > 0) await world.restart();
  return row;
}

/** The row of a round that could not be played. */
function brokenRow({ name }: Attack, error: unknown): Row {
  const [nothing, reason] = [{ polls: 0, starts: 0, saves: 0 }, error instanceof Error ? error.message : String(error)];
  const row = { attack: name, p99Ms: nothing, started: 0, succeeded: 0, peakMiB: { api: 0, worker: 0 }, outcomes: {} };
  return { ...row, isDeadly: false, reasons: [`the round could not be played: ${reason.slice(0, 300)}`] };
}

function describe({ limits, groups, attackerGroup }: World): string {
  const how = groups.api === undefined ? 'a watcher that kills' : 'a control group';
  const attackers = attackerGroup === undefined ? 'the lowest priority' : 'half a processor, at the lowest priority';
  return `API with ${limits.api.memoryMiB} MiB, worker with ${limits.worker.memoryMiB} MiB, by ${how}; attackers with ${attackers}`;
}

function choose(): Attack[] {
  const { only, short } = values;
  if (only === undefined) return attacks.filter(({ isShort }) => !short || isShort === true);
  const unknown = only.filter((name) => attacks.every((attack) => attack.name !== name));
  if (unknown.length > 0) throw new Error(`there is no attack ${unknown.join(', ')}; --list names them`);
  return attacks.filter(({ name }) => only.includes(name));
}
