// Streams the events of a run as server-sent events. docs/use/live.md.
import { z } from 'zod';
import { readRunHead } from '../../db/runs/poll-repository.js';
import { overloaded } from '../http/errors.js';
import { EVENT_STREAM_HEADERS } from '../http/event-stream.js';
import { uuid } from '../http/path-ids.js';
import type { StreamDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { answerNotFound, refuseInvisible } from '../runs/answer-poll.js';
import { envelopeSchema } from '../envelope/run-envelope.js';
import { openDraftFeed } from './draft-feed.js';
import { openEndedFeed, openFeed } from './run-feed.js';
import { streamRun, type AnyFeed } from './stream-run.js';

const defineRoute = routesOf<StreamDeps>();

/** A caller that reads nothing for this time is disconnected; it may reconnect with `Last-Event-ID`. */
const STALLED_MS = 60_000;

const headers = z.object({
  'last-event-id': z
    .string()
    .optional()
    .describe('The `id` of the last event that was received: the stream goes on behind it'),
});

const events = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/workflow_result/events/',
  summary: 'Streams the run as it happens, as server-sent events.',
  description:
    'Events `node` (an entry as in the poll, with its `path`), `approval` (a request, at first and whenever its status ' +
    'changes) and `run` (`{status, version}`). `id` is the version of the run after the event, and rises from event to ' +
    'event. The stream begins with what has happened so far, or behind the event that `Last-Event-ID` names. It ends after ' +
    'the `run` event with the status `succeed` or `failed`; a stream that ends before is resumed with `Last-Event-ID`. ' +
    'A comment is sent every 15 seconds. A run that is not found is answered as in the poll, in JSON.',
  keyScope: 'run',
  query: z.object({
    id: uuid,
    include: z.literal('deltas').optional().describe('Events `delta` are sent, too: what models write, as it comes'),
  }),
  headers,
  responses: { 200: envelopeSchema },
  mediaTypes: { 200: ['text/event-stream', 'application/json'] },
  async handler({ deps, caller, query, headers: sent, signal }) {
    const asked = { runId: query.id, userId: caller.userId, projectId: caller.projectId };
    const run = await readRunHead(deps.db, asked, deps.config.resultRetentionDays);
    if (run !== undefined) refuseInvisible(run);
    if (run === undefined || run.isExpired) return answerNotFound(query.id);
    if (deps.runHub.isFullFor(caller.userId)) throw overloaded();
    const after = toPlace(sent['last-event-id'], run.version);
    const { runId } = run;
    const deltas = query.include === undefined ? undefined : { since: run.version, memory: deps.memory };
    const open = (): Promise<AnyFeed> | AnyFeed => {
      if (run.nodeErrors !== null) return openDraftFeed(run.nodeErrors, run.version);
      return run.status === 'In Progress'
        ? openFeed(deps.db, deps.runHub, { runId, userId: caller.userId }, signal, { deltas })
        : openEndedFeed(deps.db, runId);
    };
    const body = streamRun(deps, { runId, reader: caller, role: run.role, after, open, signal });
    return { status: 200, headers: EVENT_STREAM_HEADERS, body, stalledMs: STALLED_MS };
  },
});

export const liveRoutes: Route<StreamDeps>[] = [events];

/**
 * Returns the version after which the stream starts. A header that is no version, or a version that the run has not
 * reached (such as one from before the database was restored), starts the stream from the beginning, so that nothing is
 * lost.
 */
function toPlace(lastEventId: string | undefined, version: number): number {
  if (lastEventId === undefined || !/^\d{1,16}$/.test(lastEventId)) return 0;
  const place = Number(lastEventId);
  return place <= version ? place : 0;
}
