// Pages call the service by `unwrap(api.GET('/api/v1/projects/', { signal }))`. An answer that is no success is thrown
// as a `ServiceError`, and `explain` (explain.ts) makes a sentence of it.
import { createClient } from '../../clients/typescript/src/index.js';
import { CALL_RETRIES } from './calls.js';
import { tokens } from './session.js';

export { RunRefusedError, ServiceError, unwrap } from '../../clients/typescript/src/index.js';
export type { components, paths } from '../../clients/typescript/src/index.js';

/** Calls carry the session's token when there is a session. The marketplace is open to visitors. */
export const api = createClient({ baseUrl: location.origin, sessionToken: tokens, ...CALL_RETRIES });
