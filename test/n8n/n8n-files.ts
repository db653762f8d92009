// Files in n8n's format, written for these tests, each with what comes of it beside it (`NAME.expected.json`).
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ImportWarning } from '../../n8n/n8n-file.js';

const FOLDER = path.join(import.meta.dirname, 'files');
const ENDING = '.expected.json';

/** One run of what was imported. */
export interface ExpectedRun {
  input?: Record<string, unknown>;
  /** `succeed` unless stated. */
  status?: string;
  output?: unknown;
  /** By label: parts of the results of nodes. */
  results: Record<string, unknown>;
  /** Labels of nodes that do not run. */
  notRun?: string[];
}

interface Expected {
  title: string | null;
  /** By label: the kinds of the nodes. */
  kinds: Record<string, string>;
  warnings: ImportWarning[];
  /** The warnings of check_workflow, by their codes. */
  checked: string[];
  /** What a person has to fill in before it runs: paths of the errors of check_workflow. */
  missing: string[];
  runs?: ExpectedRun[];
}

export interface N8nCase {
  name: string;
  /** The text of the file. */
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
