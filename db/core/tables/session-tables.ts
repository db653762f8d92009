// People sign in and stay signed in by these tables. docs/operate/sign-in.md.
import type { Generated } from 'kysely';
import type { Timestamp } from './column-types.js';

/** `link`: a one-time link: one that `npm start` and `admin console-link` print, or one that sets a password. */
export type SignInMethod = 'password' | 'link' | 'oidc';

/** Writers: `admin` and the API. Apart from the users, so that nobody reads a hash along with a name. */
export interface UserPasswordsTable {
  user_id: number;
  /** `$scrypt$ln=..,r=..,p=..$salt$hash`: the parameters are those of the day on which it was set. */
  hash: string;
  changed_at: Timestamp;
}

/**
 * Writer: the API (`set-password` of `admin` ends them). A session is live until it is ended or expires. No token is
 * stored: both hashes are SHA-256 of random bits.
 */
export interface SessionsTable {
  id: Generated<string>;
  user_id: number;
  method: SignInMethod;
  /**
   * The hash of what all refresh tokens of the session have in common: it names the session when a used one comes back.
   */
  family_hash: Buffer;
  /** The hash of the one refresh token that is good now. */
  token_hash: Buffer;
  /** The place where it was used last: an IPv4 address, or the first 64 bits of an IPv6 address. */
  network: string;
  user_agent: string;
  created_at: Generated<Date>;
  /** The sign-in, or the last refresh. */
  last_used_at: Generated<Date>;
  expires_at: Date;
  ended_at: Date | null;
}

/** `sign-in`: signs its user in. `password`: sets the user's password. */
export type LinkPurpose = 'sign-in' | 'password';

/** Writers: `admin` and the embedded stack's start (insert), the API (both). `token_hash` is SHA-256 of random bits. */
export interface SignInLinksTable {
  token_hash: Buffer;
  user_id: number;
  purpose: Generated<LinkPurpose>;
  created_at: Generated<Date>;
  expires_at: Date;
  used_at: Date | null;
}

/**
 * Writer: the API. Failed logins of the current minute, by account, by network, and by both. `key` is a hash, because
 * people type their passwords into the wrong field.
 */
export interface LoginFailuresTable {
  key: Buffer;
  /** Attempts under way count until they have succeeded. */
  failures: number;
  ends_at: Date;
}

/** Writer: the API. Strangers to an account under attack who have been told to come again. */
export interface LoginWaitsTable {
  key: Buffer;
  ready_at: Date;
  /** The next attempt is admitted until then. */
  ends_at: Date;
}

/** Writer: the API. Who a person of an issuer is here. */
export interface OidcIdentitiesTable {
  issuer: string;
  subject: string;
  user_id: number;
  created_at: Generated<Date>;
}
