// Builds the common answer of sign-in and refresh.
import { z } from 'zod';
import { findUser, type UserRow } from '../../db/users/users-repository.js';
import type { OpenedSession } from '../../db/sessions/sessions-repository.js';
import type { SessionDeps } from './deps.js';
import { ApiError } from '../http/errors.js';
import type { RouteResult } from '../http/route.js';
import type { AccessTokenSigner } from './access-token.js';
import { refreshCookie } from './refresh-cookie.js';

/** A session with the refresh token for its cookie; without a token the browser keeps its present cookie. */
export type OpenSession = OpenedSession & { token?: string };

const MAX_TOKEN_SECONDS = 3600;

export const signedInSchema = z.object({
  access_token: z.string().describe('For `Authorization: Bearer`; it ends with its session, too'),
  token_type: z.literal('Bearer'),
  expires_in: z.int().describe('Seconds, at most 3600'),
  user: z.object({
    id: z.int(),
    name: z.string(),
    email: z.string().nullable(),
    api_access: z.boolean(),
    is_admin: z.boolean(),
  }),
});

/** Throws 403 if session tokens come from another service. */
export function requireSigner({ signIn }: SessionDeps): AccessTokenSigner {
  if (signIn.signAccessToken !== undefined) return signIn.signAccessToken;
  throw new ApiError(403, 'sign_in_disabled', 'Nobody signs in here: session tokens come from another service.');
}

export async function answerSession(deps: SessionDeps, session: OpenSession, isSecure: boolean): Promise<RouteResult> {
  const { sessionId, userId, secondsLeft, token } = session;
  const secondsToLive = Math.max(1, Math.min(MAX_TOKEN_SECONDS, secondsLeft));
  const accessToken = await requireSigner(deps)({ userId, sessionId, secondsToLive });
  const user = await findUser(deps.db, userId);
  if (user === undefined) throw new Error(`session ${sessionId} has no user`);
  const body = {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: secondsToLive,
    user: toUser(user),
  };
  return { status: 200, body, ...(token === undefined ? {} : { headers: toHeaders(token, secondsLeft, isSecure) }) };
}

export function toHeaders(token: string, secondsLeft: number, isSecure: boolean): Record<string, string> {
  return { 'Set-Cookie': refreshCookie(token, { isSecure, maxAgeSeconds: secondsLeft }) };
}

function toUser({ id, name, email, api_access, is_admin }: UserRow): z.infer<typeof signedInSchema>['user'] {
  return { id, name, email, api_access, is_admin };
}
