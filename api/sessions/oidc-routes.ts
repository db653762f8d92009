// Signs in by OpenID Connect. docs/operate/sign-in.md, "OpenID Connect".
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { resolveIdentity, type Identity } from '../../db/sessions/identities-repository.js';
import { openSession } from '../../db/sessions/sessions-repository.js';
import type { AuditTrail } from '../http/audit-rule.js';
import type { Logger } from '../../telemetry/logger.js';
import type { SessionDeps } from './deps.js';
import { detailSchema, nothing } from '../http/answer-schemas.js';
import { ApiError, notFound } from '../http/errors.js';
import { routesOf, type Route, type RouteResult } from '../http/route.js';
import { requireSigner, toHeaders, type OpenSession } from './answer-session.js';
import { countSignIn, signedIn } from './login-throttle.js';
import type { OidcClient } from './oidc-client.js';
import { toOidcError, orSignInPage } from './oidc-failure.js';
import { startSignInFlow, flowCookie, flowSecret, OIDC_PATH, readFlowSecret, resumeFlow } from './oidc-flow.js';
import { visitOf, type Visit } from './visit.js';

const defineRoute = routesOf<SessionDeps>();

const providers = defineRoute({
  method: 'GET',
  path: '/api/v1/auth/providers/',
  summary: 'Lists ways to sign in besides a password: a name for people, and the address that a link leads to.',
  auth: 'open',
  responses: { 200: z.array(z.object({ name: z.string(), url: z.url() })) },
  handler({ deps: { signIn } }) {
    const { oidc, signAccessToken } = signIn;
    const isOffered = oidc !== undefined && signAccessToken !== undefined;
    return { status: 200, body: isOffered ? [{ name: oidc.settings.name, url: oidc.url }] : [] };
  },
});

const FOR_PEOPLE =
  'A browser that asks for a page (`Accept: text/html`) is sent to the sign-in page with `?problem=` and the code of what ' +
  'went wrong, instead of getting the error itself.';

const begin = defineRoute({
  method: 'GET',
  path: OIDC_PATH,
  summary: 'Sends the browser to the identity provider.',
  auth: 'open',
  description: FOR_PEOPLE,
  responses: { 302: nothing, 303: nothing, 403: detailSchema, 404: detailSchema, 503: detailSchema },
  handler: (context) =>
    orSignInPage(context.requestHeaders, context.deps.config.publicUrl, async () => {
      const oidc = requireOidc(context.deps);
      const { isSecure } = visitOf(context);
      const secret = flowSecret(context.requestHeaders, isSecure);
      const url = await oidc.authorizationUrl(startSignInFlow(secret)).catch((error: unknown) => {
        throw toOidcError(error, context.log);
      });
      const cookie = flowCookie(secret, isSecure);
      return { status: 302, headers: { Location: url, 'Set-Cookie': cookie } };
    }),
});

/** The parameters of an authorization response that are read; others are ignored. */
const answerSchema = z.object({
  state: z.string().optional(),
  code: z.string().max(8192).optional(),
  iss: z.string().max(2048).optional(),
  error: z.string().max(200).optional(),
  error_description: z.string().max(2048).optional(),
});

const callback = defineRoute({
  method: 'GET',
  path: `${OIDC_PATH}callback/`,
  summary: 'Takes the answer of the identity provider, signs the user in and sends the browser to the service.',
  description:
    'Only in the browser that began, within ten minutes. The answer sets the refresh cookie; the page that the browser ' +
    `is sent to gets its access token by a refresh. ${FOR_PEOPLE}`,
  auth: 'open',
  audit: { action: 'login.succeeded', refused: 'login.refused', target: 'user', commits: 'handler' },
  query: answerSchema,
  responses: {
    303: nothing,
    401: detailSchema,
    403: detailSchema,
    404: detailSchema,
    503: detailSchema,
  },
  handler: (context) => orSignInPage(context.requestHeaders, context.deps.config.publicUrl, () => takeAnswer(context)),
});

interface Answer {
  deps: SessionDeps;
  log: Logger;
  query: z.infer<typeof answerSchema>;
  requestHeaders: IncomingHttpHeaders;
  peerAddress: string;
  audit: AuditTrail;
}

async function takeAnswer(context: Answer): Promise<RouteResult> {
  const { deps, query, requestHeaders, log, audit } = context;
  const oidc = requireOidc(deps);
  const visit = visitOf(context);
  const secret = readFlowSecret(requestHeaders, visit.isSecure);
  const flow = secret === undefined ? undefined : resumeFlow(secret, query.state ?? '');
  if (flow === undefined) throw invalidState();
  const opened = await countSignIn(deps.metrics, 'oidc', async () => {
    const identity = await oidc.identify(flow, query).catch((error: unknown) => {
      throw toOidcError(error, log);
    });
    return openSessionOf(identity, { deps, audit }, oidc, visit);
  }).catch(async (error: unknown) => {
    // `orSignInPage` may turn the error into a redirect, but only errors are recorded as refusals in the audit log.
    await audit.refuse(error);
    throw error;
  });
  log.info({ session_id: opened.sessionId, user_id: opened.userId }, 'signed in by OpenID Connect');
  const headers = toHeaders(opened.token, opened.secondsLeft, visit.isSecure);
  return { status: 303, headers: { ...headers, Location: `${deps.config.publicUrl}/` } };
}

export const oidcRoutes: Route<SessionDeps>[] = [providers, begin, callback];

function requireOidc(deps: SessionDeps): OidcClient {
  if (deps.signIn.oidc === undefined) throw notFound();
  requireSigner(deps);
  return deps.signIn.oidc;
}

async function openSessionOf(
  identity: Identity,
  { deps, audit }: { deps: SessionDeps; audit: AuditTrail },
  { settings }: OidcClient,
  { network, userAgent }: Visit,
): Promise<OpenSession & { token: string }> {
  const userId = await resolveIdentity(deps.db, identity, settings);
  if (userId === undefined) throw unknownPerson();
  const session = { userId, method: 'oidc', network, userAgent } as const;
  audit.concerns(userId);
  return audit.change(async (trx) => {
    const opened = await openSession(trx, session, () => Promise.resolve(true));
    if (opened === undefined) throw lockedOut();
    return opened;
  }, signedIn);
}

function lockedOut(): ApiError {
  return new ApiError(401, 'authentication_failed', 'This account is not active. Ask an administrator.', {
    headers: { 'WWW-Authenticate': 'Bearer realm="api"' },
  });
}

function invalidState(): ApiError {
  const message = 'This sign-in was not begun in this browser, or more than ten minutes ago. Please begin again.';
  return new ApiError(400, 'invalid_state', message);
}

function unknownPerson(): ApiError {
  const message =
    'Nobody here has the e-mail address that your identity provider has verified, or that user is linked to another ' +
    'account of the provider. Ask an administrator.';
  return new ApiError(403, 'unknown_user', message);
}
