// Answers of the service behind a TLS proxy. The service assumes one if PUBLIC_URL is an https address.
import assert from 'node:assert/strict';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startApiProcess, type ApiProcess } from '../../../harness/stack/api-process.js';
import { createPerson, type Person } from '../sessions/people.js';

const PATHS = ['/healthz', '/api/v1/projects/', '/nowhere', '/', '/docs'];

describe('transport security', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let secure: ApiProcess;
  let person: Person;

  before(async () => {
    stack = await sharedStack();
    secure = await startApiProcess(stack, { PUBLIC_URL: 'https://workflows.example' });
    person = await createPerson(stack);
  });
  after(async () => assert.equal(await secure.stop(), 0));

  it('every answer behind TLS tells browsers to stay with it for a year, and none without TLS', async () => {
    for (const path of PATHS) {
      const [behind, plain] = [await fetch(`${secure.apiUrl}${path}`), await fetch(`${stack.apiUrl}${path}`)];
      const named = 'strict-transport-security';
      assert.equal(behind.headers.get(named), 'max-age=31536000; includeSubDomains', path);
      assert.equal(plain.headers.get(named), null, path);
    }
  });

  it('behind TLS, the cookie of a session has the prefix __Secure-, and one without it is refused', async () => {
    const post = (path: string, headers: Record<string, string> = {}, body?: object): Promise<Response> =>
      fetch(`${secure.apiUrl}/api/v1/auth/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
    const { email, password } = person;
    const [cookie = ''] = (await post('login/', {}, { email, password })).headers.getSetCookie();
    assert.match(
      cookie,
      /^__Secure-wfa_refresh=\S+; Path=\/api\/v1\/auth\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
    );
    const pair = cookie.split(';')[0]!;
    const planted = await post('refresh/', { cookie: pair.replace('__Secure-', '') });
    assert.deepEqual([planted.status, ((await planted.json()) as { code: string }).code], [401, 'not_authenticated']);
    const refreshed = await post('refresh/', { cookie: pair });
    assert.equal(refreshed.status, 200);
    const [next = ''] = refreshed.headers.getSetCookie();
    const out = await post('logout/', { cookie: next.split(';')[0]! });
    assert.match(out.headers.getSetCookie()[0] ?? '', /^__Secure-wfa_refresh=; .*Max-Age=0; .*Secure$/);
    assert.equal((await post('refresh/', { cookie: next.split(';')[0]! })).status, 401);
  });
});
