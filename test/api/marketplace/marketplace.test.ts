import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { chain, drawing, link, llm, trigger } from '../../../harness/drawing/drawing.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, revokeAccess, type Account } from '../accounts.js';
import { NOT_FOUND, type Page } from '../bodies.js';
import { copy, publish, uniqueWord, type MarketplaceWorkflow, type Published } from '../marketplace-setup.js';

describe('marketplace', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let author: Account;
  let anybody: ApiClient;

  before(async () => {
    stack = await sharedStack();
    author = await createAccount(stack);
    anybody = createApiClient(stack.apiUrl);
  });

  const list = async (query: string, api = anybody): Promise<Page<MarketplaceWorkflow>> => {
    const { status, body } = await api.get<Page<MarketplaceWorkflow>>(`/workflows/marketplace/${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const read = async (slug: string, api = anybody): Promise<MarketplaceWorkflow> => {
    const { status, body } = await api.get<MarketplaceWorkflow>(`/workflows/marketplace/${slug}/`);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  describe('200', () => {
    it('a published workflow is shown with the fields of the specification and no others', async () => {
      const word = uniqueWord();
      const fields = {
        market_title: `Digest ${word}`,
        short_description: 'What happened',
        readme_guide: '# How to',
        available_languages: ['en', 'de'],
        run_fee: '0.250',
        free_runs_per_user: 2,
      };
      const [start, model] = [trigger(), llm('hello')];
      link(start, model);
      const { workflowId, runId, slug } = await publish(stack, author, fields, drawing([start, model]));
      const run = await author.api.history(workflowId, runId);
      const expected = {
        id: workflowId,
        slug,
        market_title: `Digest ${word}`,
        short_description: 'What happened',
        readme_guide: '# How to',
        available_languages: ['en', 'de'],
        run_fee: '0.25',
        free_runs_per_user: 2,
        marketplace_price_avg: { USD: '0.00002', EUR: '0.0000184' },
        copied_workflow_id: -1,
        total_users_count: 0,
        total_runs_count: 1,
        last_run_at: run['created_at'],
      };
      assert.deepEqual(await read(slug), expected);
      assert.deepEqual(await list(`?search=${word}`), { page: 1, size: 10, total: 1, items: [expected] });
    });

    it('the list and the reads need no credentials, and wrong ones do not hurt', async () => {
      const { slug } = await publish(stack, author);
      const shut = await createAccount(stack);
      await revokeAccess(stack, shut);
      const wrong: Record<string, string>[] = [
        {},
        { 'x-api-key': 'nonsense' },
        { 'x-api-key': shut.apiKey },
        { 'x-api-key': '' },
        { authorization: 'Bearer nonsense' },
        { authorization: 'Basic !!' },
      ];
      for (const headers of wrong) {
        for (const path of ['', `${slug}/`, `${slug}/examples/`]) {
          const { status } = await anybody.get(`/workflows/marketplace/${path}`, { headers });
          assert.equal(status, 200, `${path} ${JSON.stringify(headers)}`);
        }
        assert.equal(
          (await anybody.get<MarketplaceWorkflow>(`/workflows/marketplace/${slug}/`, { headers })).body
            .copied_workflow_id,
          -1,
        );
      }
    });

    it('copied_workflow_id is the copy of whoever asks, or -1', async () => {
      const word = uniqueWord();
      const { slug } = await publish(stack, author, { market_title: word });
      const [buyer, other] = [await createAccount(stack), await createAccount(stack)];
      const copyId = await copy(buyer, slug);
      const seenBy = async (api: ApiClient): Promise<number[]> => [
        (await read(slug, api)).copied_workflow_id,
        (await list(`?search=${word}`, api)).items[0]!.copied_workflow_id,
      ];
      assert.deepEqual(await seenBy(buyer.api), [copyId, copyId]);
      assert.deepEqual(await seenBy(other.api), [-1, -1]);
      assert.deepEqual(await seenBy(author.api), [-1, -1]);
      assert.deepEqual(await seenBy(anybody), [-1, -1]);
      await buyer.api.delete(`/workflows/${copyId}/`);
      assert.deepEqual(await seenBy(buyer.api), [-1, -1]);
    });

    it('users, runs, average price and last run count the original and its copies', async () => {
      const [start, model] = [trigger(), llm('hello')];
      link(start, model);
      const { slug } = await publish(stack, author, {}, drawing([start, model]));
      const buyers = [await createAccount(stack), await createAccount(stack)];
      const copies = [await copy(buyers[0]!, slug), await copy(buyers[1]!, slug)];
      const started = [];
      for (const _ of [1, 2]) started.push((await buyers[1]!.api.run(copies[1]!)).data.id);
      for (const id of started) await buyers[1]!.api.pollToEnd(id);
      const { created_at: last } = await buyers[1]!.api.history(copies[1]!, started[1]!);
      const shown = await read(slug);
      assert.deepEqual(
        [shown.total_users_count, shown.total_runs_count, shown.marketplace_price_avg, shown.last_run_at],
        [2, 3, { USD: '0.00002', EUR: '0.0000184' }, last],
      );
      await buyers[0]!.api.delete(`/workflows/${copies[0]}/`);
      await copy(buyers[0]!, slug);
      assert.equal((await read(slug)).total_users_count, 2, 'a second copy is no second user');
    });

    it('search finds the marketplace title without regard to case, and nothing else of the workflow', async () => {
      const word = uniqueWord();
      await publish(stack, author, { market_title: `${word} 100%`, short_description: `not ${word.slice(0, 20)}x` });
      assert.equal((await list(`?search=${word.toUpperCase()}`)).total, 1);
      assert.equal((await list(`?search=${word}${encodeURIComponent(' 100%')}`)).total, 1);
      assert.equal((await list(`?search=${word}${encodeURIComponent('%')}`)).total, 0);
      assert.equal((await list(`?search=${word.slice(0, 20)}x`)).total, 0);
    });

    it('an unpublished or archived workflow, and one whose project is deleted, is nowhere to be seen', async () => {
      const word = uniqueWord();
      const ways: ((published: Published) => Promise<unknown>)[] = [
        ({ workflowId }) => author.api.post(`/workflows/${workflowId}/unpublish-from-marketplace/`),
        ({ workflowId }) => author.api.delete(`/workflows/${workflowId}/`),
        ({ projectId }) => author.api.delete(`/projects/${projectId}/`),
      ];
      const all: Published[] = [];
      for (const _ of ways) all.push(await publish(stack, author, { market_title: word }));
      assert.equal((await list(`?search=${word}`)).total, 3);
      for (const [index, hide] of ways.entries()) {
        await hide(all[index]!);
        for (const path of ['', 'examples/', `examples/${all[index]!.runId}/`]) {
          const answer = await anybody.get(`/workflows/marketplace/${all[index]!.slug}/${path}`);
          assert.deepEqual([answer.status, answer.body], [404, NOT_FOUND]);
        }
        assert.equal((await list(`?search=${word}`)).total, 2 - index);
      }
    });
  });

  describe('401, 404 and 405', () => {
    it('a slug that nothing published has, and what can be none, is not found', async () => {
      for (const slug of [uniqueWord(), '%00', 'A', 'a%2Fb', '..%2F', '-1', 'x'.repeat(500), 'п', '%E0%A4%A']) {
        for (const path of ['', 'examples/', `examples/${randomUUID()}/`]) {
          const { status } = await anybody.get(`/workflows/marketplace/${slug}/${path}`);
          assert.equal(status, 404, `${slug}/${path}`);
        }
      }
    });

    it('copying without credentials or with wrong ones is a 401, whether the slug exists or not', async () => {
      const { slug } = await publish(stack, author);
      for (const name of [slug, uniqueWord()]) {
        for (const headers of [{}, { 'x-api-key': 'nonsense' }]) {
          const { status } = await anybody.post(`/workflows/marketplace/${name}/add-from-marketplace/`, { headers });
          assert.equal(status, 401);
        }
      }
    });

    it('the list is no workflow and a workflow is no slug', async () => {
      const id = await author.api.createWorkflow(await author.api.createProject(), chain(1));
      assert.equal((await author.api.get<Page<unknown>>('/workflows/marketplace')).body.page, 1);
      assert.equal((await author.api.get<{ id: number }>(`/workflows/${id}/`)).body.id, id);
      assert.equal((await anybody.get(`/workflows/${id}/`)).status, 401);
      assert.equal((await anybody.post('/workflows/marketplace/some-slug/')).status, 405);
    });
  });
});
