import { ConfigError } from '../config/environment.js';
import { StartError } from './embedded/start-error.js';

/**
 * Lets the process go on if nobody reads its output any more, because `head` or the parent process has ended. Otherwise
 * the next line that it prints would end it, and leave the processes running that it has started.
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
