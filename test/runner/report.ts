// What the runner prints: each file when it has ended, at last all failures once more, the slowest files, and the sum.
import type { TimedResult } from './lanes.js';

export interface Report {
  add: (result: TimedResult) => void;
  /** True when something was run and nothing has failed. */
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
      // A suite in which nothing was run has shown nothing.
      return sum('failures') === 0 && sum('passes') > 0;
    },
  };
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
