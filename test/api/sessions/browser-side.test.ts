import assert from 'node:assert/strict';
import { refuseForeignOrigin } from '../../../api/sessions/own-origin.js';
import { readRefreshCookie, refreshCookie } from '../../../api/sessions/refresh-cookie.js';
import { startSignInFlow, flowSecret, resumeFlow } from '../../../api/sessions/oidc-flow.js';
import { createTrustedProxies } from '../../../api/access/visitor.js';
import { visitOf } from '../../../api/sessions/visit.js';

describe('what a browser sends and keeps', () => {
  const PUBLIC = 'https://w.example';

  it('an origin is our own by PUBLIC_URL, or by the host that was asked', () => {
    const own: Record<string, string>[] = [
      {},
      { host: 'w.example' },
      { origin: 'https://w.example', host: 'internal:3000' },
      { origin: 'http://127.0.0.1:3000', host: '127.0.0.1:3000' },
      { origin: 'https://w2.example', host: 'W2.example' },
      { origin: 'https://w.example', 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
    ];
    for (const headers of own) assert.doesNotThrow(() => refuseForeignOrigin(headers, PUBLIC), JSON.stringify(headers));
  });

  it('any other origin is foreign, one of our site and one without a name, too', () => {
    const foreign: Record<string, string>[] = [
      { origin: 'http://w.example', host: 'internal:3000' },
      { origin: 'https://w.example.evil.example', host: 'w.example' },
      { origin: 'https://w.example:444', host: 'w.example' },
      { origin: 'null', host: 'w.example' },
      { origin: '', host: 'w.example' },
      { origin: 'https://evil.example' },
      { origin: 'chrome-extension://w.example', host: 'w.example' },
      { origin: 'https://w.example', 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'nonsense' },
    ];
    for (const headers of foreign) {
      assert.throws(() => refuseForeignOrigin(headers, PUBLIC), { status: 403, code: 'foreign_origin' });
    }
  });

  it('cookies are Secure where the browser`s connection is encrypted', () => {
    const trustedProxies = createTrustedProxies(['10.0.0.1']);
    const isSecure = (publicUrl: string, headers: Record<string, string>, peerAddress = '10.0.0.1'): boolean => {
      const deps = { config: { publicUrl }, signIn: { trustedProxies } };
      return visitOf({ deps, requestHeaders: headers, peerAddress }).isSecure;
    };
    assert.equal(isSecure('https://w.example', {}), true);
    assert.equal(isSecure('http://w.example', { 'x-forwarded-proto': 'https' }), true);
    assert.equal(isSecure('http://w.example', { 'x-forwarded-proto': 'https' }, '10.0.0.2'), false);
    assert.equal(isSecure('http://w.example', {}), false);
    assert.match(
      refreshCookie('a.b', { isSecure: true, maxAgeSeconds: 9 }),
      /^__Secure-wfa_refresh=a\.b; .*; Max-Age=9; HttpOnly; SameSite=Strict; Secure$/,
    );
    assert.doesNotMatch(refreshCookie('a.b', { isSecure: false, maxAgeSeconds: 9 }), /Secure/);
  });

  it('the refresh cookie is found among others, and no other one passes for it', () => {
    assert.equal(readRefreshCookie({ cookie: 'a=1; wfa_refresh=x.y; b=2' }, false), 'x.y');
    for (const cookie of [undefined, '', 'wfa_refresh', 'wfa_refresh=', 'xwfa_refresh=1', 'a="wfa_refresh=1"']) {
      assert.equal(readRefreshCookie(cookie === undefined ? {} : { cookie }, false), undefined, cookie);
    }
  });

  it('behind TLS only the cookie with the prefix __Secure- is read, and without TLS only the one without it', () => {
    const both = { cookie: 'wfa_refresh=planted.one; __Secure-wfa_refresh=x.y' };
    assert.equal(readRefreshCookie(both, true), 'x.y');
    assert.equal(readRefreshCookie({ cookie: 'wfa_refresh=planted.one' }, true), undefined);
    assert.equal(readRefreshCookie({ cookie: '__Secure-wfa_refresh=x.y' }, false), undefined);
  });

  it('a state of OpenID Connect is good in its browser, unchanged, and for ten minutes', () => {
    const [mine, other] = [flowSecret({}, false), flowSecret({}, false)];
    assert.equal(flowSecret({ cookie: `wfa_oidc=${mine}` }, false), mine);
    assert.equal(flowSecret({ cookie: `__Secure-wfa_oidc=${mine}` }, true), mine);
    assert.notEqual(flowSecret({ cookie: 'wfa_oidc=chosen by somebody' }, false), 'chosen by somebody');
    const nowMs = Date.now();
    const flow = startSignInFlow(mine, nowMs);
    assert.deepEqual(resumeFlow(mine, flow.state, nowMs + 599_000), flow);
    assert.equal(resumeFlow(mine, flow.state, nowMs + 602_000), undefined);
    assert.equal(resumeFlow(other, flow.state, nowMs), undefined);
    for (let index = 0; index < flow.state.length; index += 1) {
      const changed = `${flow.state.slice(0, index)}${flow.state[index] === 'x' ? 'y' : 'x'}${flow.state.slice(index + 1)}`;
      assert.equal(resumeFlow(mine, changed, nowMs), undefined, changed);
    }
    assert.equal(new Set([flow.state, flow.nonce, flow.verifier, mine]).size, 4);
    assert.match(flow.verifier, /^[\w-]{43,128}$/, 'RFC 7636');
  });
});
