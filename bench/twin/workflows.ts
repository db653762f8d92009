// The workflow that the service is compared with: the same calls in hand-written code, without a drawing. It uses a
// database only if the twin stores its runs.
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { createActivities } from './activities.js';
import type { Shape } from '../graphs.js';
import type { TwinAnswer, TwinJob } from './jobs.js';

type Activities = ReturnType<typeof createActivities>;

const proxy = proxyActivities<Activities>({ startToCloseTimeout: '10s', retry: { maximumAttempts: 4 } });

/** `isLast` is true if no call follows, so that the result and the end of the run are stored in one statement. */
type Call = (number: number, after: string, isLast?: boolean) => Promise<TwinAnswer>;

export async function twin(job: TwinJob): Promise<TwinAnswer[]> {
  const { shape, targetUrl, tag, delayMs, keeps } = job;
  const { workflowId: runId } = workflowInfo();
  const addressOf = (number: number, after: string) => `${targetUrl}/${tag}/${number}?delay=${delayMs}&after=${after}`;
  if (!keeps) return jobs[shape]((number, after) => proxy.call(addressOf(number, after)), job);
  let endsWithCall = false;
  const callAndKeep: Call = (number, after, isLast = false) => {
    endsWithCall ||= isLast;
    return proxy.callAndKeep({ url: addressOf(number, after), runId, number, isLast });
  };
  try {
    const answers = await jobs[shape](callAndKeep, job);
    if (!endsWithCall) await proxy.endRun(runId, 'succeed');
    return answers;
  } catch (error) {
    await proxy.endRun(runId, 'failed');
    throw error;
  }
}

const jobs: Record<Shape, (call: Call, job: TwinJob) => Promise<TwinAnswer[]>> = {
  async chain(call, { size }) {
    const answers: TwinAnswer[] = [];
    for (let number = 1; number <= size; number++) {
      answers.push(await call(number, answers.at(-1)?.well ?? 'start', number === size));
    }
    return answers;
  },

  async 'fan-out'(call, job) {
    const side = await jobs.fan(call, job);
    return [...side, await call(job.size + 1, side[0]!.well, true)];
  },

  fan: (call, { size }) => Promise.all(Array.from({ length: size }, (_, index) => call(index + 1, 'start'))),

  async branch(call) {
    const first = await call(1, 'start');
    return [first, await call(first.well === 'yes' ? 2 : 3, first.well, true)];
  },

  async diamonds(call, { size, tag }) {
    const answers: TwinAnswer[] = [];
    for (let diamond = 1; diamond <= size; diamond++) {
      const before = answers.at(-1)?.well;
      const isFirst = (before ?? tag) !== (diamond % 2 === 1 ? 'none' : 'yes');
      answers.push(await call(isFirst ? 2 * diamond - 1 : 2 * diamond, before ?? 'start'));
    }
    return [...answers, await call(2 * size + 1, answers.at(-1)!.well, true)];
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
