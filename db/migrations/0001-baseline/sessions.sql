-- Passwords, sign-ins and sessions of people.

CREATE TABLE user_passwords (
  user_id integer PRIMARY KEY REFERENCES users (id),
  hash text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE user_passwords IS
  'Hashes of passwords, apart from `users` so that nobody reads a hash along with a name. Writers: the API and '
  '`admin`.';
COMMENT ON COLUMN user_passwords.hash IS
  '`$scrypt$ln=..,r=..,p=..$salt$hash`, with the parameters of the day on which it was set.';

CREATE TABLE sessions (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id integer NOT NULL REFERENCES users (id),
  method text NOT NULL CHECK (method IN ('password', 'link', 'oidc')),
  family_hash bytea NOT NULL UNIQUE,
  token_hash bytea NOT NULL,
  network text NOT NULL,
  user_agent text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  ended_at timestamptz
);

COMMENT ON TABLE sessions IS
  'Sessions. A session is live until it is ended or expires. No token is stored: both hashes are SHA-256 of random '
  'bits. Writers: the API, and `admin set-password`, which ends them.';
COMMENT ON COLUMN sessions.family_hash IS
  'The hash of what all refresh tokens of the session share: it identifies the session when a used one comes back.';
COMMENT ON COLUMN sessions.token_hash IS 'The hash of the one refresh token that is valid now.';
COMMENT ON COLUMN sessions.network IS
  'The address that used it last: an IPv4 address, or the first 64 bits of an IPv6 address.';
COMMENT ON COLUMN sessions.last_used_at IS 'The sign-in, or the last refresh.';

CREATE INDEX sessions_user ON sessions (user_id, last_used_at DESC, id);
-- Retention deletes by this index. A session is over when it was ended, or else when it expires.
CREATE INDEX sessions_over ON sessions ((coalesce(ended_at, expires_at)));

CREATE TABLE sign_in_links (
  token_hash bytea PRIMARY KEY,
  user_id integer NOT NULL REFERENCES users (id),
  purpose text NOT NULL DEFAULT 'sign-in' CHECK (purpose IN ('sign-in', 'password')),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);

COMMENT ON TABLE sign_in_links IS
  'One-time links. `token_hash` is SHA-256 of random bits. Writers: the API, `admin` and the start of the embedded '
  'stack.';
COMMENT ON COLUMN sign_in_links.purpose IS '`sign-in`: signs its user in. `password`: sets the user''s password.';

CREATE INDEX sign_in_links_expired ON sign_in_links (expires_at);
CREATE INDEX sign_in_links_user ON sign_in_links (user_id);

-- The table is unlogged like `rate_limits`, because a row lives for a minute, and attackers cause most rows.
CREATE UNLOGGED TABLE login_failures (
  key bytea PRIMARY KEY,
  failures integer NOT NULL,
  ends_at timestamptz NOT NULL
) WITH (fillfactor = 50);

COMMENT ON TABLE login_failures IS
  'Failed logins of the current minute, by account, by network, and by both. `key` is a hash, because people type '
  'passwords into the wrong field. Writer: the API.';
COMMENT ON COLUMN login_failures.failures IS 'Attempts that are under way count until they have succeeded.';

CREATE UNLOGGED TABLE login_waits (
  key bytea PRIMARY KEY,
  ready_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL
);

COMMENT ON TABLE login_waits IS
  'Strangers to an account under attack who have been told to retry later. Writer: the API.';
COMMENT ON COLUMN login_waits.ends_at IS 'The next attempt is admitted until then.';

CREATE TABLE oidc_identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id integer NOT NULL REFERENCES users (id),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (issuer, subject),
  UNIQUE (user_id, issuer)
);

COMMENT ON TABLE oidc_identities IS 'The users that persons of identity providers are. Writer: the API.';
