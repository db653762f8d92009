import assert from 'node:assert/strict';
import { chain, drawing, linkInRow, node, trigger } from '../../../harness/drawing/drawing.js';
import { cancelRun } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import { NOT_FOUND, type FieldErrors, type Workflow } from '../bodies.js';
import { copy, markRun, publish, uniqueWord } from '../marketplace-setup.js';

const NO_TEMPLATE = ['No run of the workflow is marked as the marketplace template.'];

const filled = (title: string) => ({ market_title: title, short_description: 's', available_languages: ['en'] });

describe('publication', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
  });

  const send = <T = Workflow>(id: number | string, action: 'publish-on' | 'unpublish-from', by = account) =>
    by.api.post<T>(`/workflows/${id}/${action}-marketplace/`);
  const isListed = async (slug: string): Promise<boolean> =>
    (await fetch(`${stack.apiUrl}/api/v1/workflows/marketplace/${slug}/`)).status === 200;
  describe('200', () => {
    it('publishing answers the workflow, published under a slug of its title; unpublishing the same, unpublished', async () => {
      const word = uniqueWord();
      const { workflowId, slug } = await publish(stack, account, { market_title: `Ünique ${word}!` });
      assert.equal(slug, `unique-${word}`);
      const { body } = await account.api.get<Workflow>(`/workflows/${workflowId}/`);
      assert.deepEqual([body['is_published'], body['slug'], body['copied_from']], [true, slug, null]);
      assert.ok(await isListed(slug));
      const taken = await send(workflowId, 'unpublish-from');
      assert.equal(taken.status, 200);
      const { updated_at: _, ...before } = body;
      const { updated_at: __, ...after } = taken.body;
      assert.deepEqual(after, { ...before, is_published: false });
      assert.ok(!(await isListed(slug)));
    });

    it('both are no-ops with 200 when repeated', async () => {
      const { workflowId, slug } = await publish(stack, account);
      const again = await send(workflowId, 'publish-on');
      assert.deepEqual([again.status, again.body['is_published'], again.body['slug']], [200, true, slug]);
      for (const _ of [1, 2]) {
        const { status, body } = await send(workflowId, 'unpublish-from');
        assert.deepEqual([status, body['is_published']], [200, false]);
      }
    });

    it('the slug never changes: not with the title, not with a second publication', async () => {
      const { workflowId, slug } = await publish(stack, account);
      await account.api.patch(`/workflows/${workflowId}/`, { body: { market_title: 'Another title' } });
      assert.equal((await send(workflowId, 'publish-on')).body['slug'], slug);
      await send(workflowId, 'unpublish-from');
      assert.equal((await send(workflowId, 'publish-on')).body['slug'], slug);
    });

    it('a clash gets a number; the slug of an unpublished or archived workflow stays taken', async () => {
      const title = uniqueWord();
      const first = await publish(stack, account, { market_title: title });
      await send(first.workflowId, 'unpublish-from');
      const second = await publish(stack, account, { market_title: title.toUpperCase() });
      await account.api.delete(`/workflows/${second.workflowId}/`);
      const third = await publish(stack, account, { market_title: `${title}?` });
      assert.deepEqual([first.slug, second.slug, third.slug], [title, `${title}-2`, `${title}-3`]);
    });

    it('a title without Latin letters gets a slug too', async () => {
      const { workflowId, slug } = await publish(stack, account, { market_title: 'Погода 天気'.replaceAll(' ', '') });
      assert.equal(slug, `workflow-${workflowId}`);
      assert.ok(await isListed(slug));
    });

    it('eight workflows of one title published at once get eight slugs', async () => {
      const title = uniqueWord();
      const ids = await Promise.all(
        Array.from({ length: 8 }, async () => {
          const { workflowId, runId } = await account.api.runToEnd(chain(1));
          await account.api.patch(`/workflows/${workflowId}/`, { body: filled(title) });
          await markRun(stack, runId, 'use_as_marketplace_template');
          return workflowId;
        }),
      );
      const answers = await Promise.all(ids.map((id) => send(id, 'publish-on')));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      const expected = [title, ...[2, 3, 4, 5, 6, 7, 8].map((number) => `${title}-${number}`)];
      assert.deepEqual(answers.map(({ body }) => String(body['slug'])).toSorted(), expected);
    });

    it('one workflow published eight times at once has one slug', async () => {
      const { workflowId, runId } = await account.api.runToEnd(chain(1));
      await account.api.patch(`/workflows/${workflowId}/`, { body: filled(uniqueWord()) });
      await markRun(stack, runId, 'use_as_marketplace_template');
      const answers = await Promise.all(Array.from({ length: 8 }, () => send(workflowId, 'publish-on')));
      assert.equal(new Set(answers.map(({ body }) => body['slug'])).size, 1);
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    });

    it('owner and admin may', async () => {
      const { projectId, workflowId } = await publish(stack, account);
      const admin = await createAccount(stack);
      await giveRole(stack, admin, projectId, 'admin');
      assert.equal((await send(workflowId, 'unpublish-from', admin)).status, 200);
      assert.equal((await send(workflowId, 'publish-on', admin)).status, 200);
    });

    it('what is published is the drawing of the template run: later edits wait for the next publication', async () => {
      const { workflowId, slug } = await publish(stack, account, {}, chain(2));
      const edited = chain(3);
      await account.api.patch(`/workflows/${workflowId}/`, { body: { data: edited } });
      const nodesOfCopy = async (): Promise<number> => {
        const buyer = await createAccount(stack);
        const { body } = await buyer.api.get<Workflow>(`/workflows/${await copy(buyer, slug)}/`);
        return (body.data['nodes'] as unknown[]).length;
      };
      assert.equal(await nodesOfCopy(), 2);
      const { data } = await account.api.run(workflowId);
      await account.api.pollToEnd(data.id);
      await markRun(stack, data.id, 'use_as_marketplace_template');
      assert.equal(await nodesOfCopy(), 2);
      await send(workflowId, 'publish-on');
      assert.equal(await nodesOfCopy(), 3);
    });
  });

  describe('400', () => {
    it('names every empty field and the missing template run at once, and publishes nothing', async () => {
      const { workflowId } = await account.api.runToEnd(chain(1));
      const { status, body } = await send<FieldErrors>(workflowId, 'publish-on');
      assert.equal(status, 400);
      assert.deepEqual(body, {
        market_title: ['This field may not be blank.'],
        short_description: ['This field may not be blank.'],
        available_languages: ['This list may not be empty.'],
        non_field_errors: NO_TEMPLATE,
      });
      const { body: record } = await account.api.get<Workflow>(`/workflows/${workflowId}/`);
      assert.deepEqual([record['is_published'], record['slug']], [false, null]);
    });

    for (const field of ['market_title', 'short_description', 'available_languages']) {
      it(`${field} alone is enough to refuse`, async () => {
        const { workflowId, runId } = await account.api.runToEnd(chain(1));
        await markRun(stack, runId, 'use_as_marketplace_template');
        const body = { ...filled(uniqueWord()), [field]: field === 'available_languages' ? [] : '  ' };
        await account.api.patch(`/workflows/${workflowId}/`, { body });
        const answer = await send<FieldErrors>(workflowId, 'publish-on');
        assert.deepEqual([answer.status, Object.keys(answer.body)], [400, [field]]);
      });
    }

    it('what a publication needs cannot be emptied while the workflow is published', async () => {
      const { workflowId } = await publish(stack, account);
      const path = `/workflows/${workflowId}/`;
      const blank = { market_title: ' ', short_description: '', available_languages: [] };
      const before = (await account.api.get<Workflow>(path)).body;
      const { status, body } = await account.api.patch<FieldErrors>(path, { body: { ...blank, title: 'changed' } });
      assert.equal(status, 400);
      assert.deepEqual(body, {
        market_title: ['This field may not be blank.'],
        short_description: ['This field may not be blank.'],
        available_languages: ['This list may not be empty.'],
      });
      const one = await account.api.patch<FieldErrors>(path, { body: { short_description: '' } });
      assert.deepEqual([one.status, one.body], [400, { short_description: ['This field may not be blank.'] }]);
      assert.deepEqual((await account.api.get<Workflow>(path)).body, before, 'nothing of it was stored');
      assert.equal((await account.api.patch(path, { body: { short_description: 'other' } })).status, 200);
      await send(workflowId, 'unpublish-from');
      assert.equal((await account.api.patch(path, { body: blank })).status, 200, 'an unpublished one may be emptied');
    });

    it('a run that is not marked, or of another workflow, or not succeeded is no template', async () => {
      const { workflowId, runId } = await account.api.runToEnd(chain(1));
      await account.api.patch(`/workflows/${workflowId}/`, { body: filled(uniqueWord()) });
      const other = await account.api.runToEnd(chain(1));
      await markRun(stack, other.runId, 'use_as_marketplace_template');
      const refusal = await send<FieldErrors>(workflowId, 'publish-on');
      assert.deepEqual([refusal.status, refusal.body], [400, { non_field_errors: NO_TEMPLATE }]);
      await markRun(stack, runId, 'use_as_marketplace_template');
      await markRun(stack, runId, 'use_as_marketplace_template', false);
      assert.equal((await send(workflowId, 'publish-on')).status, 400);
      const waits = await account.api.createWorkflow(
        await account.api.createProject(),
        drawing(linkInRow([trigger(), node('wait', { mode: 'callback' })])),
      );
      await account.api.patch(`/workflows/${waits}/`, { body: filled(uniqueWord()) });
      const { data: open } = await account.api.run(waits);
      await markRun(stack, open.id, 'use_as_marketplace_template');
      const early = await send<FieldErrors>(waits, 'publish-on');
      assert.deepEqual([early.status, early.body], [400, { non_field_errors: NO_TEMPLATE }]);
      await cancelRun(stack, open.id, account.api);
      await account.api.pollToEnd(open.id);
      const cancelled = await send<FieldErrors>(waits, 'publish-on');
      assert.deepEqual([cancelled.status, cancelled.body], [400, { non_field_errors: NO_TEMPLATE }]);
    });

    it('the role of editor and viewer does not permit either', async () => {
      const { projectId, workflowId } = await publish(stack, account);
      for (const role of ['editor', 'viewer'] as const) {
        const member = await createAccount(stack);
        await giveRole(stack, member, projectId, role);
        for (const action of ['publish-on', 'unpublish-from'] as const) {
          const { status, body } = await send<Record<string, unknown>>(workflowId, action, member);
          assert.deepEqual([status, body['code']], [400, 'permission_denied'], `${role} ${action}`);
        }
      }
    });
  });

  describe('401 and 404', () => {
    it('a stranger, an unknown, an archived workflow and what is no id are not found', async () => {
      const { workflowId } = await publish(stack, account);
      const stranger = await createAccount(stack);
      const archived = await account.api.createWorkflow(await account.api.createProject(), {});
      await account.api.delete(`/workflows/${archived}/`);
      for (const action of ['publish-on', 'unpublish-from'] as const) {
        for (const [id, by] of [
          [workflowId, stranger],
          [2_147_483_647, account],
          [archived, account],
          ['abc', account],
        ] as const) {
          const { status, body } = await send(id, action, by);
          assert.deepEqual([status, body], [404, NOT_FOUND], `${id} ${action}`);
        }
        const path = `${stack.apiUrl}/api/v1/workflows/${workflowId}/${action}-marketplace/`;
        assert.equal((await fetch(path, { method: 'POST' })).status, 401);
      }
    });
  });
});
