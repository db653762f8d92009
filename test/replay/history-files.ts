// Recorded runs in test/histories: one folder for each version of the recordings (CONTRIBUTING.md, "Changing the run
// workflow").
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { historyToJson } from '../../cli/replay/histories.js';

const FOLDER = path.resolve(import.meta.dirname, '../histories');
/**
 * The version that `npm run histories` writes. Raise it once runs of this version are in flight in an installation, so
 * that their recordings stay.
 */
export const CURRENT_VERSION = '1';

export interface HistoryFile {
  /** The name `<version>/<scenario>.<execution>.json`. */
  name: string;
  path: string;
  version: string;
  /** The name of a scenario in test/replay/scenarios*.ts. */
  scenario: string;
}

export function historyFiles(): HistoryFile[] {
  return readdirSync(FOLDER).flatMap((version) =>
    readdirSync(path.join(FOLDER, version))
      .toSorted()
      .map((file) => ({
        name: `${version}/${file}`,
        path: path.join(FOLDER, version, file),
        version,
        scenario: file.split('.')[0]!,
      })),
  );
}

/** Writes the executions of one run, oldest first, and removes those recorded before. */
export function writeHistories(scenario: string, histories: History[]): void {
  const folder = path.join(FOLDER, CURRENT_VERSION);
  mkdirSync(folder, { recursive: true });
  for (const old of historyFiles()) {
    if (old.version === CURRENT_VERSION && old.scenario === scenario) rmSync(old.path);
  }
  for (const [index, history] of histories.entries()) {
    const lines = historyToJson(history).events.map((event) => JSON.stringify(event, withoutMachine));
    writeFileSync(path.join(folder, `${scenario}.${index + 1}.json`), `{"events":[\n${lines.join(',\n')}\n]}\n`);
  }
}

/** Removes process ids, host names and paths, which are private and would make every recording differ. */
function withoutMachine(key: string, value: unknown): unknown {
  if (key === 'identity') return 'recorded';
  if (key === 'stackTrace') return '';
  // A sticky queue belongs to the worker process that has the run cached, and is named after the process.
  const queue = value as { kind?: string; name?: string } | null;
  if (key === 'taskQueue' && queue?.kind === 'TASK_QUEUE_KIND_STICKY') return { ...queue, name: 'recorded' };
  return value;
}
