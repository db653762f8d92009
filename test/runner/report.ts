// The output of the runner: each file when it has ended, then all failures again, the slowest files, and the totals.
import type { TimedResult } from './lanes.js';

export interface Report {
  add: (result: TimedResult) => void;
  /** Returns true if at least one test has passed and none has failed. */
  close: (slowest: number) => boolean;
}

export function openReport(write: (text: string) => void = (text) => void process.stdout.write(text)): Report {
  const results: TimedResult[] = [];
  const startedAt = performance.now();
  return {
    add(result) {
      results.push(result);
      const { file, passes, failures, pending, output, durationMs } = result;
      const more = `${failures > 0 ? `, ${failures} FAILED` : ''}${pending > 0 ? `, ${pending} pending` : ''}`;
      write(`${output.trimEnd()}\n  ${file}: ${passes} passed${more} in ${seconds(durationMs)}\n`);
    },
    close(slowest) {
      const failed = results.filter(({ failures }) => failures > 0);
      for (const { file, output } of failed) write(`\nFAILED: ${file}\n${output.trimEnd()}\n`);
      const byTime = results.toSorted((a, b) => b.durationMs - a.durationMs).slice(0, slowest);
      write(`\nThe slowest files of ${results.length}, in ${seconds(performance.now() - startedAt)} in all:\n`);
      for (const { file, durationMs, cpuMs } of byTime) {
        write(`${seconds(durationMs).padStart(9)}, ${seconds(cpuMs).padStart(8)} of CPU  ${file}\n`);
      }
      const sum = (of: 'passes' | 'failures'): number => results.reduce((total, result) => total + result[of], 0);
      write(`${sum('passes')} passed, ${sum('failures')} failed\n`);
      // A suite in which no test ran proves nothing.
      return sum('failures') === 0 && sum('passes') > 0;
    },
  };
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
