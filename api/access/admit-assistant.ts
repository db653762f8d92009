// Admits the tools of the assistant in the editor, which the worker calls for a run (docs/use/assistants.md).
import { findAssistantRun, openAssistantToken } from '../../db/agents/assistant-token.js';
import type { AccessDeps } from './deps.js';
import { ApiError } from '../http/errors.js';
import { admitSession } from './admit-session.js';
import type { Admission } from './admission.js';

/** The name in the audit log. */
const CLIENT = 'Assistant in the editor';

/**
 * Returns the user of the run, in the project of the run. The requests count as those of the user's sessions. Throws
 * 401 for an invalid or expired token, once the run has ended, and for a user who is not active; and 429.
 */
export async function admitAssistant(deps: AccessDeps, token: string): Promise<Admission> {
  const named = openAssistantToken(deps.secretBox, token);
  const run = named === undefined ? undefined : await findAssistantRun(deps.db, named);
  if (run === undefined) {
    const headers = { 'WWW-Authenticate': 'Bearer realm="api", error="invalid_token"' };
    throw new ApiError(401, 'authentication_failed', 'Invalid or expired token.', { headers });
  }
  const { runId, userId, projectId, workflowId } = run;
  const admission = await admitSession(deps, { by: 'user', userId }, 'now');
  // The credential is not `session`: an assistant must not use the routes that require a person's session.
  const caller = { userId, projectId, credential: 'key', client: CLIENT, assistant: { runId, workflowId } } as const;
  return { ...admission, caller };
}
