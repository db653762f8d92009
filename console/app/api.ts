// The service, as pages ask it: `unwrap(api.GET('/api/v1/projects/', { signal }))`. Answers other than good ones throw
// `ServiceError`; `explain` (app/explain.ts) makes a sentence of it.
import { createClient } from '../../clients/typescript/src/index.js';
import { CALL_RETRIES } from './calls.js';
import { tokens } from './session.js';

export { RunNotFoundError, RunRefusedError, ServiceError, unwrap } from '../../clients/typescript/src/index.js';
export type { components, paths } from '../../clients/typescript/src/index.js';

/** With the session's token where there is a session: the marketplace is open to visitors, too. */
export const api = createClient({ baseUrl: location.origin, sessionToken: tokens, ...CALL_RETRIES });
