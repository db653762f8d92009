import type { IncomingHttpHeaders } from 'node:http';
import { clientAddress, isForwardedHttps, networkOf } from '../access/visitor.js';
import type { Environment } from '../../config/environment.js';
import type { SignIn } from './sign-in.js';
import { cutText } from '../../graph/cut-text.js';

/** The facts about a request that its session stores, and that determine its cookies. */
export interface Visit {
  network: string;
  userAgent: string;
  /** True if the browser's connection is encrypted, so that its cookies never travel without encryption. */
  isSecure: boolean;
}

const MAX_USER_AGENT = 255;

interface Request {
  deps: { config: Pick<Environment, 'publicUrl'>; signIn: Pick<SignIn, 'trustedProxies'> };
  requestHeaders: IncomingHttpHeaders;
  peerAddress: string;
}

export function visitOf({ deps, requestHeaders: headers, peerAddress }: Request): Visit {
  const { trustedProxies } = deps.signIn;
  const arrival = { peerAddress, headers };
  return {
    network: networkOf(clientAddress(arrival, trustedProxies)),
    userAgent: cutText(headers['user-agent'] ?? '', MAX_USER_AGENT),
    isSecure: deps.config.publicUrl.startsWith('https:') || isForwardedHttps(arrival, trustedProxies),
  };
}
