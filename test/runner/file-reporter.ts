import { format } from 'node:util';
import Mocha from 'mocha';

const { Base, Spec } = Mocha.reporters;

/**
 * Mocha's spec reporter for one file. It writes into `lines`, because files run side by side: the runner prints the
 * output of a file when the file has ended.
 */
export function createFileReporter(
  lines: string[],
): new (runner: Mocha.Runner, options: Mocha.MochaOptions) => Mocha.reporters.Base {
  return class FileReporter extends Spec {
    constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
      Base.consoleLog = (...args: unknown[]) => void lines.push(format(...args));
      super(runner, options);
    }

    override epilogue(): void {
      if (this.failures.length > 0) Base.list(this.failures);
    }
  };
}
