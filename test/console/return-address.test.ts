import assert from 'node:assert/strict';
import { toOwnPath, toSignInPath } from '../../console/service/return-address.js';

const ORIGIN = 'https://workflows.example';

describe('the address that a person comes back to after signing in', () => {
  it('is a path of the own origin, with its query and fragment', () => {
    const own = ['/runs', '/runs?status=failed&search=a%2Fb', '/inbox/7c9e#details', '/workflows/12/', '/sign-in-not'];
    for (const path of own) assert.equal(toOwnPath(path, ORIGIN), path);
    assert.equal(toOwnPath('/runs/../inbox', ORIGIN), '/inbox');
  });

  it('is the root for whatever leads elsewhere or runs code, in whatever disguise', () => {
    const hostile = [
      '//evil.example',
      '///evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      '/\t/evil.example',
      '/\n/evil.example',
      '/.//evil.example',
      '/x/..//evil.example',
      '/%2e//evil.example',
      'https://evil.example',
      'https:evil.example',
      ' https://evil.example',
      'javascript:alert(1)',
      'data:text/html,x',
      '@evil.example',
      'runs',
      '/sign-in',
      '/sign-in/?next=/runs',
      '',
    ];
    for (const address of hostile) assert.equal(toOwnPath(address, ORIGIN), '/', JSON.stringify(address));
    assert.equal(toOwnPath(null, ORIGIN), '/');
  });

  it('survives its way through the address of the sign-in page', () => {
    const path = '/runs?search=a b&c=%26#x';
    const { pathname, searchParams } = new URL(toSignInPath(path), ORIGIN);
    assert.deepEqual([pathname, searchParams.get('next')], ['/sign-in', path]);
    assert.equal(toSignInPath('/'), '/sign-in');
  });
});
