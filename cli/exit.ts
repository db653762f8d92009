import { ConfigError } from '../config/environment.js';
import { StartError } from './embedded/start-error.js';

/** Ends the process with code 1: one sentence for what a person can mend, the stack for anything else. */
export function exitWith(error: unknown): never {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(1);
}

export function describeFailure(error: unknown): string {
  if (error instanceof StartError || error instanceof ConfigError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
