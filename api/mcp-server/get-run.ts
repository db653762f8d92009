// The tool that reports the state of a run, for clients whose call has ended before its run (docs/use/mcp.md).
import { z } from 'zod';
import { findOpenRequests } from '../../db/runs/open-requests-repository.js';
import { findRunRole } from '../../db/projects/members-repository.js';
import { findRunEnd } from '../../db/runs/tool-runs-repository.js';
import { ownValue, type JsonObject } from '../../graph/json.js';
import { overloaded } from '../http/errors.js';
import type { RouteResult } from '../http/route.js';
import { mayRun } from '../../acceptance/roles.js';
import { toRequestText } from '../runs/request-text.js';
import { failure, GET_RUN, toText } from './call-result.js';
import type { Calling } from './calling.js';
import { answerResult, type Request } from './messages.js';
import { streamCall } from './stream-call.js';

const inputSchema = z.object({ run_id: z.uuid() });

export const getRunTool: JsonObject = {
  name: GET_RUN,
  title: 'Get run',
  description:
    'Says how a run stands that another tool has started: its result once it has ended, or what it waits for.',
  inputSchema: {
    type: 'object',
    properties: { run_id: { type: 'string', format: 'uuid', description: 'As the other tool has given it' } },
    required: ['run_id'],
  },
  annotations: { title: 'Get run', readOnlyHint: true, openWorldHint: false },
};

/** For an ended run, answers with the same result as the run's own call. */
export async function getRun(
  { deps, caller, takesFirstEvent, signal }: Calling,
  { id }: Request,
  input: JsonObject,
): Promise<RouteResult> {
  const parsed = inputSchema.safeParse({ run_id: ownValue(input, 'run_id') });
  if (!parsed.success) return answerResult(id, failure('run_id is the id of a run, which is a UUID.'));
  const runId = parsed.data.run_id.toLowerCase();
  const role = await findRunRole(deps.db, runId, caller);
  const end = mayRun(role?.role ?? null) ? await findRunEnd(deps.db, runId) : undefined;
  if (end === undefined) return answerResult(id, failure('There is no such run that you may see.'));
  if (end.status === 'In Progress') {
    const requests = await findOpenRequests(deps.db, runId);
    const waits = requests.length > 0 ? ` It waits for a person:\n\n${toRequestText(requests, deps.config)}` : '';
    return answerResult(id, toText(`The run ${runId} has not ended yet.${waits}`, runId));
  }
  if (end.hasExpired) return answerResult(id, failure('The results of this run have expired.', runId));
  if (deps.runHub.isFullFor(caller.userId)) throw overloaded();
  const call = { requestId: id, progressToken: undefined, reported: 0, ofRun: runId };
  return streamCall(deps, { ...call, runId, reader: caller, takesFirstEvent, signal });
}
