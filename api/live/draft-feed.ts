import type { RunEvent } from '../../db/runs/run-events-repository.js';
import type { NodeErrors } from '../../graph/validate.js';
import { toFailedNodes } from '../runs/run-envelope.js';
import type { RunFeed } from './run-feed.js';

/** Of a run that validation refused: its nodes with their errors, and its end, which has the run's version. */
export function openDraftFeed(nodeErrors: string, version: number): RunFeed {
  const entries = Object.values(toFailedNodes(JSON.parse(nodeErrors) as NodeErrors));
  const none = { path: '', apartBytes: null };
  const events: RunEvent[] = entries.map((entry, index) => {
    const data = JSON.stringify({ id: entry.id, path: '', status: entry.status, result: entry.result });
    return {
      ...none,
      version: version - entries.length + index,
      kind: 'node',
      subject: entry.id,
      status: 'failed',
      data,
    };
  });
  events.push({ ...none, version, kind: 'run', subject: '', status: 'Draft', data: '' });
  return {
    isClosed: true,
    after: (place) => Promise.resolve(events.filter((event) => event.version > place)),
    untilNews: () => Promise.resolve(),
    end: () => undefined,
  };
}
