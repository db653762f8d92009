import type { Environment } from '../../config/environment.js';
import { createTrustedProxies, type TrustedProxies } from '../access/visitor.js';
import { createAccessTokenSigner, type AccessTokenSigner } from './access-token.js';
import { createHashQueue, type HashQueue } from './hash-queue.js';
import { createOidcClient, type OidcClient } from './oidc-client.js';

/** The parts that signing in needs; api/main.ts builds them once. */
export interface SignIn {
  /** Undefined without JWT_SECRET: session tokens then come from another service. */
  signAccessToken: AccessTokenSigner | undefined;
  hashQueue: HashQueue;
  trustedProxies: TrustedProxies;
  /** Undefined without OIDC_ISSUER. */
  oidc: OidcClient | undefined;
}

export function createSignIn({ jwtSecret, publicUrl, signIn }: Environment): SignIn {
  return {
    signAccessToken: jwtSecret === undefined ? undefined : createAccessTokenSigner(jwtSecret),
    hashQueue: createHashQueue(),
    trustedProxies: createTrustedProxies(signIn.trustedProxies),
    oidc: signIn.oidc === undefined ? undefined : createOidcClient(signIn.oidc, publicUrl),
  };
}
