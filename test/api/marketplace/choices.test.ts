import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import type { FieldErrors, Page, Workflow } from '../bodies.js';

interface Choice {
  code: string;
  name: string;
}
type Category = Choice & { id: number; parent: number | null };

describe('categories and languages', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let nobody: ApiClient;

  before(async () => {
    stack = await sharedStack();
    nobody = createApiClient(stack.apiUrl);
  });

  async function allOf<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    for (let page = 1; ; page += 1) {
      const { status, body } = await nobody.get<Page<T>>(`${path}?size=100&page=${page}`);
      assert.deepEqual([status, body.page, body.size], [200, page, 100]);
      items.push(...body.items);
      if (items.length >= body.total || body.items.length === 0) return items;
    }
  }

  it('categories come by name, each before its subcategories, and need no credentials', async () => {
    const word = `zz ${randomUUID()}`;
    const insert = async (name: string, parent: number | null): Promise<number> => {
      const text = 'INSERT INTO categories (name, parent_id) VALUES ($1, $2) RETURNING id';
      return (await queryDatabase<{ id: number }>(stack, text, [`${word} ${name}`, parent]))[0]!.id;
    };
    const second = await insert('b', null);
    const first = await insert('a', null);
    const below = [await insert('y', second), await insert('x', second)];
    const found = (await allOf<Category>('/categories/')).filter(({ name }) => name.startsWith(word));
    const entry = (id: number, name: string, parent: number | null) => ({
      id,
      code: `${id}`,
      name: `${word} ${name}`,
      parent,
    });
    assert.deepEqual(
      found.map(({ id, code, name, parent }) => ({ id, code, name, parent })),
      [entry(first, 'a', null), entry(second, 'b', null), entry(below[1]!, 'x', second), entry(below[0]!, 'y', second)],
    );
  });

  it('the code of a category is what the filters of lists take', async () => {
    const { api } = await createAccount(stack);
    const [row] = await queryDatabase<{ id: number }>(stack, 'INSERT INTO categories (name) VALUES ($1) RETURNING id', [
      `filter ${randomUUID()}`,
    ]);
    const { code, id } = (await allOf<Category>('/categories/')).find((category) => category.id === row!.id)!;
    const workflow = await api.createWorkflow(await api.createProject(), {});
    await api.patch(`/workflows/${workflow}/`, { body: { categories: [id] } });
    const { body } = await api.get<Page<Workflow>>(`/all-workflows/?categories=${code}`);
    assert.deepEqual(
      body.items.map((item) => item.id),
      [workflow],
    );
  });

  it('languages are those of ISO 639-1, by name, each once', async () => {
    const all = await allOf<Choice>('/languages/');
    const codes = all.map(({ code }) => code);
    assert.deepEqual([codes.length, new Set(codes).size], [183, 183]);
    assert.ok(all.every(({ code, name }) => /^[a-z]{2}$/.test(code) && name.length > 1 && name !== code));
    const names = all.map(({ name }) => name);
    assert.deepEqual(
      names,
      names.toSorted((a, b) => a.localeCompare(b, 'en')),
    );
    assert.deepEqual(
      ['en', 'de', 'ru', 'zh'].map((wanted) => all.find(({ code }) => code === wanted)?.name),
      ['English', 'German', 'Russian', 'Chinese'],
    );
  });

  it('the search for a language looks into names, and takes a whole code', async () => {
    const find = async (search: string): Promise<string[]> => {
      const { body } = await nobody.get<Page<Choice>>(`/languages/?search=${encodeURIComponent(search)}`);
      return body.items.map(({ code }) => code);
    };
    assert.deepEqual(await find('GERMAN'), ['de']);
    assert.ok((await find('de')).includes('de'));
    assert.deepEqual(await find('no such tongue'), []);
    assert.equal((await find('')).length, 10);
  });

  it('a wrong page is a 400, one past the end is empty', async () => {
    for (const path of ['/categories/', '/languages/']) {
      const { status, body } = await nobody.get<FieldErrors>(`${path}?page=0`);
      assert.deepEqual([status, Object.keys(body)], [400, ['page']]);
      assert.deepEqual((await nobody.get<Page<Choice>>(`${path}?page=1000000`)).body.items, []);
    }
  });
});
