import assert from 'node:assert/strict';
import { startFakeModelProvider, type FakeModelProvider } from '../../harness/target/fake-model-provider.js';
import { PROVIDERS_PATH, startModelRouter, type ModelRouter } from '../../harness/target/model-router.js';
import { eventually } from '../../harness/timing/eventually.js';

describe('the model provider of a shared stack', () => {
  let router: ModelRouter;
  let providers: [FakeModelProvider, FakeModelProvider];

  const tell = (method: 'PUT' | 'DELETE', body: string): Promise<Response> =>
    fetch(new URL(PROVIDERS_PATH, router.url), { method, body });
  const ask = (model: string, signal?: AbortSignal): Promise<Response> => {
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] });
    return fetch(`${router.url}/chat/completions`, { method: 'POST', body, ...(signal && { signal }) });
  };
  const textOf = async (answer: Response): Promise<string> =>
    ((await answer.json()) as { choices: { message: { content: string } }[] }).choices[0]!.message.content;

  beforeEach(async () => {
    router = await startModelRouter();
    providers = [await startFakeModelProvider(), await startFakeModelProvider()];
    for (const { url } of providers) await tell('PUT', url);
  });
  afterEach(async () => {
    await Promise.all(providers.map((provider) => provider.close()));
    await router.close();
  });

  it('forwards a call to the process that has scripted its model, and returns its status and headers', async () => {
    providers[1].script('second', [{ text: 'one' }, { status: 429, headers: { 'retry-after': '7' } }]);
    assert.equal(await textOf(await ask('second')), 'one');
    const refused = await ask('second');
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '7']);
    assert.equal(providers[1].requestsFor('second').length, 2);
    assert.equal(providers[1].requestsFor('second')[0]!.headers['x-only-scripted'], undefined);
  });

  it('echoes a call whose model no process has scripted, and records it once in every process', async () => {
    assert.equal(await textOf(await ask('nobodys')), 'echo: hello');
    assert.deepEqual(
      providers.map((provider) => provider.requestsFor('nobodys').length),
      [1, 1],
    );
  });

  it('passes on a cut connection, and a disconnect of the caller', async () => {
    providers[0].script('cut', { reset: true });
    await assert.rejects(ask('cut'));
    providers[0].script('slow', { delayMs: 20_000 });
    const caller = new AbortController();
    const asked = assert.rejects(ask('slow', caller.signal));
    await eventually(() => providers[0].requestsFor('slow').length === 1);
    caller.abort();
    await asked;
    await eventually(() => providers[0].requestsFor('slow')[0]!.aborted);
  });

  it('forgets a process that has ended', async () => {
    providers[1].script('second', { text: 'one' });
    await tell('DELETE', providers[1].url);
    assert.equal(await textOf(await ask('second')), 'echo: hello');
  });

  it('forgets a process that has died without saying so, and asks the others', async () => {
    const addDead = async (): Promise<void> => {
      const dead = await startFakeModelProvider();
      await tell('PUT', dead.url);
      await dead.close();
    };
    await addDead();
    assert.equal(await textOf(await ask('nobodys')), 'echo: hello');
    await addDead();
    await tell('DELETE', providers[0].url);
    await tell('PUT', providers[0].url);
    providers[0].script('first', { text: 'one' });
    assert.equal(await textOf(await ask('first')), 'one');
    await Promise.all(providers.map(({ url }) => tell('DELETE', url)));
    assert.equal((await ask('nobodys')).status, 503);
  });
});
