// The workflow that the service is compared with: the same calls in hand-written code, without a drawing or a database.
import { proxyActivities } from '@temporalio/workflow';
import type * as activities from './activities.js';
import type { Shape } from '../graphs.js';
import type { TwinAnswer, TwinJob } from './jobs.js';

const proxy = proxyActivities<typeof activities>({ startToCloseTimeout: '10s', retry: { maximumAttempts: 4 } });

type Call = (number: number, after: string) => Promise<TwinAnswer>;

export function twin(job: TwinJob): Promise<TwinAnswer[]> {
  const { shape, targetUrl, tag, delayMs } = job;
  return jobs[shape](
    (number, after) => proxy.call(`${targetUrl}/${tag}/${number}?delay=${delayMs}&after=${after}`),
    job,
  );
}

const jobs: Record<Shape, (call: Call, job: TwinJob) => Promise<TwinAnswer[]>> = {
  async chain(call, { size }) {
    const answers: TwinAnswer[] = [];
    for (let number = 1; number <= size; number++) answers.push(await call(number, answers.at(-1)?.well ?? 'start'));
    return answers;
  },

  async 'fan-out'(call, { size }) {
    const side = await Promise.all(Array.from({ length: size }, (_, index) => call(index + 1, 'start')));
    return [...side, await call(size + 1, side[0]!.well)];
  },

  async branch(call) {
    const first = await call(1, 'start');
    return [first, await call(first.well === 'yes' ? 2 : 3, first.well)];
  },

  async diamonds(call, { size, tag }) {
    const answers: TwinAnswer[] = [];
    for (let diamond = 1; diamond <= size; diamond++) {
      const before = answers.at(-1)?.well;
      const isFirst = (before ?? tag) !== (diamond % 2 === 1 ? 'none' : 'yes');
      answers.push(await call(isFirst ? 2 * diamond - 1 : 2 * diamond, before ?? 'start'));
    }
    return [...answers, await call(2 * size + 1, answers.at(-1)!.well)];
  },

  async 'for-each'(call, { size, concurrency }) {
    const items = Array.from({ length: size }, (_, index) => index + 1);
    const answers: TwinAnswer[] = [];
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let index = next++; index < items.length; index = next++) {
        answers[index] = await call(items[index]!, 'start');
      }
    };
    await Promise.all(Array.from({ length: concurrency }, lane));
    return answers;
  },
};
