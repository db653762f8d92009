import { ConfigError } from '../config/environment.js';
import { StartError } from './embedded/start-error.js';

/** Ends the process with code 1. Prints one sentence for an error that the user can fix, the stack for any other. */
export function exitWith(error: unknown): never {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(1);
}

export function describeFailure(error: unknown): string {
  if (error instanceof StartError || error instanceof ConfigError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
