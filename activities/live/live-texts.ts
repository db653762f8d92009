// Publishes the text of models while they write it. All streams of a worker share one loop, which runs while there are
// any streams. One statement per round reads which runs have readers and writes the text that these readers lack.
import type { Logger } from '../../telemetry/logger.js';
import type { Database } from '../../db/core/client.js';
import { writeDeltas, type RunDelta, type ReportedToolCall } from '../../db/runs/run-deltas-repository.js';
import type { Masker } from '../../graph/mask.js';
import type { NodeKey } from '../../graph/plan.js';
import { NEVER_WAITS, type ByteBudget } from '../../memory/byte-budget.js';
import { untilAborted } from '../../outgoing/until-aborted.js';
import { createStepText, type StepText } from './step-text.js';

interface StartedStep extends NodeKey {
  projectId: number;
  /** The attempt of the node, from its claim. */
  attempt: number;
  /** The number of the call within the node, from 0. */
  step: number;
  /** True if somebody reads the run. */
  hasReaders: boolean;
  masker: Masker;
}

interface LiveText {
  /** Adds the next piece of the content, as the provider has sent it. */
  add(text: string): void;
  /**
   * Call this when the answer is complete. Resolves when the rest of the answer is published, at once if nobody reads,
   * and after `END_WITHIN_MS` in any case. A failure to publish is ignored.
   */
  end(toolCalls: ReportedToolCall[]): Promise<void>;
  drop(): void;
}

export interface LiveTexts {
  begin(step: StartedStep): LiveText;
}

/** The interval at which an idle loop checks for readers. */
const ROUND_MS = 120;
/**
 * Text that arrives within this time is published together. Readers see a provider's text within 200 ms; the paced
 * reads account for most of that (outgoing/paced-reads.ts).
 */
const GATHER_MS = 20;
/** A database that does not answer delays the answer of a model call no longer than this. */
const END_WITHIN_MS = 2_000;

interface Deps {
  db: Database;
  memory: ByteBudget;
  logger: Logger;
}

export function createLiveTexts({ db, memory, logger }: Deps): LiveTexts {
  const steps = new Set<StepText>();
  let wake: () => void = () => undefined;
  let isRunning = false;
  let isHurried = false;
  /** True if the last round has failed. Of failures in a row only the first is logged: there are 8 rounds a second. */
  let hasFailed = false;
  let gathering: NodeJS.Timeout | undefined;

  function hurry(): void {
    isHurried = true;
    wake();
  }

  function writeSoon(): void {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      hurry();
    }, GATHER_MS);
  }

  async function repeat(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    while (steps.size > 0) {
      if (!isHurried)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ROUND_MS);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      isHurried = false;
      await round();
    }
    isRunning = false;
  }

  async function round(): Promise<void> {
    const asked = [...steps];
    if (asked.length === 0) return;
    const written = new Map<StepText, RunDelta>();
    for (const step of asked) {
      const delta = step.hasReaders ? step.next() : undefined;
      if (delta !== undefined) written.set(step, delta);
    }
    try {
      const read = await writeDeltas(db, [...new Set(asked.map(({ runId }) => runId))], [...written.values()]);
      for (const step of asked) {
        const hasReaders = read.has(step.runId);
        if (hasReaders && written.has(step)) step.written();
        if (hasReaders && !step.hasReaders && step.hasText) isHurried = true;
        step.hasReaders = hasReaders;
      }
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) logger.warn({ err: error }, 'the text of models could not be published; each round retries');
      hasFailed = true;
    }
    for (const step of asked) if (step.isSettled) leave(step);
  }

  function leave(step: StepText): void {
    steps.delete(step);
    step.close();
  }

  return {
    begin(started) {
      const step = createStepText(started, memory.lease(`project:${started.projectId}`, NEVER_WAITS));
      steps.add(step);
      void repeat();
      return {
        add(text) {
          step.add(text);
          if (step.hasReaders) writeSoon();
        },
        async end(toolCalls) {
          step.end(toolCalls);
          if (!step.hasReaders) return leave(step);
          hurry();
          await untilAborted(step.closed, AbortSignal.timeout(END_WITHIN_MS)).catch(() => leave(step));
        },
        drop: () => leave(step),
      };
    },
  };
}
