/**
 * The `typ` of access tokens of our own sessions. It is signed with the rest, so that nobody can make such a token pass
 * for one without a session, which the end of the session would not end.
 */
export const OWN_TOKEN_TYPE = 'session+jwt';
