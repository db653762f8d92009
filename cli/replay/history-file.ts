// A history as JSON: what `temporal workflow show --output json` prints, and what test/histories holds.
import { readFileSync } from 'node:fs';
import type { HistoryAndWorkflowId } from '@temporalio/client';
import { StartError } from '../embedded/start-error.js';
import { parseHistory } from './history-json.js';

/** StartError when the file does not hold a history. */
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
    // Not JSON, or not a history: said below.
  }
  throw new StartError(`${file}: is not a workflow history in JSON (temporal workflow show --output json).`);
}
