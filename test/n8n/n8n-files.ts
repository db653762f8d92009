// Files in n8n's format, written for these tests, each with its expected import beside it (`NAME.expected.json`).
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ImportWarning } from '../../n8n/n8n-file.js';

const FOLDER = path.join(import.meta.dirname, 'files');
const ENDING = '.expected.json';

/** A run of the imported workflow. */
export interface ExpectedRun {
  input?: Record<string, unknown>;
  /** The status of the run; by default `succeed`. */
  status?: string;
  output?: unknown;
  /** Parts of the results of nodes, by label. */
  results: Record<string, unknown>;
  /** Labels of nodes that do not run. */
  notRun?: string[];
}

interface Expected {
  title: string | null;
  /** The kinds of the nodes, by label. */
  kinds: Record<string, string>;
  warnings: ImportWarning[];
  /** The codes of the warnings of check_workflow. */
  checked: string[];
  /** The fields that a person has to fill in before a run, as paths of the errors of check_workflow. */
  missing: string[];
  runs?: ExpectedRun[];
}

export interface N8nCase {
  name: string;
  text: string;
  expected: Expected;
}

export const cases: N8nCase[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith(ENDING))
  .map((file) => {
    const name = file.slice(0, -ENDING.length);
    const read = (ending: string): string => readFileSync(path.join(FOLDER, `${name}${ending}`), 'utf8');
    return { name, text: read('.json'), expected: JSON.parse(read(ENDING)) as Expected };
  });
