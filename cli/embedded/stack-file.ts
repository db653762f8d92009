// DATA_DIR/stack.json: the addresses and credentials of a running stack (docs/operate/operations.md, "`npm start`").
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomic } from './atomic-file.js';

export interface StackFile {
  api_url: string;
  api_key: string;
  user_id: number;
  temporal_address: string;
  temporal_namespace: string;
  /** Empty if the user's own Temporal is used without TEMPORAL_UI_URL. */
  temporal_ui_url: string;
  database_url: string;
  internal_token: string;
  /**
   * The names of the secrets that were set in the environment of the stack. Other secrets are in secrets.json. Absent
   * in the file of a stack that an earlier build has started.
   */
  configured_secrets?: string[];
  /** Updated whenever a part restarts. Parts that are not embedded, or do not run at that time, are absent. */
  pids: Partial<Record<ChildName, number>>;
}

export type ChildName = 'api' | 'worker' | 'temporal' | 'postgres';

export function stackFile(dataDir: string): string {
  return path.join(dataDir, 'stack.json');
}

export function writeStackFile(dataDir: string, stack: StackFile): void {
  writeFileAtomic(stackFile(dataDir), `${JSON.stringify(stack, null, 2)}\n`);
}

/** Returns undefined if no stack is ready in `dataDir`. Also returns the file of a stack that was killed. */
export function readStackFile(dataDir: string): StackFile | undefined {
  try {
    return JSON.parse(readFileSync(stackFile(dataDir), 'utf8')) as StackFile;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function removeStackFile(dataDir: string): void {
  rmSync(stackFile(dataDir), { force: true });
}
