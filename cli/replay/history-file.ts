// Reads a history in JSON: the output of `temporal workflow show --output json` and the files in test/histories.
import { readFileSync } from 'node:fs';
import type { HistoryAndWorkflowId } from '@temporalio/client';
import { StartError } from '../embedded/start-error.js';
import { parseHistory } from './history-json.js';

/** Throws StartError when the file contains no history. */
export function readHistoryFile(file: string): HistoryAndWorkflowId {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new StartError(`${file}: there is no such file.`);
  }
  try {
    const history = parseHistory(JSON.parse(text));
    const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
    if (started) return { workflowId: started.workflowId || started.originalExecutionRunId || file, history };
  } catch {
    // The error below covers text that is not JSON and JSON that is not a history.
  }
  throw new StartError(`${file}: is not a workflow history in JSON (temporal workflow show --output json).`);
}
