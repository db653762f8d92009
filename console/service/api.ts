// The client of the service: `unwrap(api.GET('/api/v1/projects/', { signal }))`. For an error response, `unwrap` throws
// a `ServiceError`, which `explain` (explain.ts) turns into a sentence.
import { createClient } from '../../clients/typescript/src/index.js';
import { CALL_RETRIES } from './calls.js';
import { tokens } from './session.js';

export { RunRefusedError, ServiceError, unwrap } from '../../clients/typescript/src/index.js';
export type { components, paths } from '../../clients/typescript/src/index.js';

/** Sends the session's token if there is a session; visitors read the marketplace without one. */
export const api = createClient({ baseUrl: location.origin, sessionToken: tokens, ...CALL_RETRIES });
