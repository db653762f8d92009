import type { RunEvent } from '../../db/runs/run-events-repository.js';
import type { NodeErrors } from '../../graph/validate.js';
import { toFailedNodes } from '../envelope/run-envelope.js';
import type { RunFeed } from './run-feed.js';

/**
 * The events of a run that validation refused: its nodes with their errors, and its end, whose version is that of the
 * run.
 */
export function openDraftFeed(nodeErrors: string, version: number): RunFeed {
  const entries = Object.values(toFailedNodes(JSON.parse(nodeErrors) as NodeErrors));
  const common = { path: '', apartBytes: null, bytes: 0 };
  const events: RunEvent[] = entries.map(({ id, status, result }, index) => ({
    ...common,
    version: version - entries.length + index,
    kind: 'node',
    subject: id,
    status: 'failed',
    content: { object: { id, path: '', status, result } },
  }));
  events.push({ ...common, version, kind: 'run', subject: '', status: 'Draft', content: undefined });
  return {
    isClosed: true,
    after: (place) => Promise.resolve(events.filter((event) => event.version > place)),
    untilNews: () => Promise.resolve(),
    end: () => undefined,
  };
}
