// Cron lines that have times around changes of clocks.
import { createRandom, type Random } from '../fuzz/random.js';

/** Together they contain every minute of every day, once as fixed times and once by real time. */
const EVERY_MINUTE = ['0-59 0-23 * * *', '* * * * *', '* 0-23 * * *', '30 * * * *', '15,45 */2 * * *'];

export function sampleLines(seed: number, index: number, count: number): string[] {
  const random = createRandom(seed, index);
  return [...EVERY_MINUTE, ...Array.from({ length: count }, () => sampleLine(random))];
}

function sampleLine(random: Random): string {
  const number = (least: number, most: number): number => least + random.below(most - least + 1);
  const minute = (): number => number(0, 29);
  const hour = random.pick([number(0, 23), number(0, 4), number(22, 23)]);
  const minutes = random.pick([
    `${minute()}`,
    '0',
    '30',
    `${minute()},${minute() + 30}`,
    '15,45',
    '0-59',
    '*',
    '*/15',
    '7/20',
  ]);
  const hours = random.pick([
    `${hour}`,
    `${hour}`,
    `${hour},${(hour + number(1, 23)) % 24}`,
    '0-3',
    '0-23',
    '*/2',
    '*',
  ]);
  const day = random.pick(['*', '*', `${number(1, 28)}-31`, `${number(1, 14)},${number(15, 28)}`, '*/2']);
  const month = random.pick(['*', '*', '3,10', '3,4,9-11', `${number(1, 12)}`]);
  const weekday = random.pick(['*', '*', '0', '6', '1-5', `${number(0, 6)}`]);
  return [minutes, hours, day, month, weekday].join(' ');
}
