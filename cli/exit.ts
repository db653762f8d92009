import { ConfigError } from '../config/environment.js';
import { StartError } from './embedded/start-error.js';

/**
 * Keeps this process alive after the reader of its output has ended, for example `head` or the parent process.
 * Otherwise the next printed line would end this process, and the processes that it has started would keep running.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** Ends the process with code 1. Prints one sentence for an error that the user can fix, the stack for any other. */
export function exitWith(error: unknown): never {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(1);
}

export function describeFailure(error: unknown): string {
  if (error instanceof StartError || error instanceof ConfigError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
