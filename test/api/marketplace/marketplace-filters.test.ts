import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, type Account } from '../accounts.js';
import type { FieldErrors, Page } from '../bodies.js';
import {
  copy,
  createCategory,
  publish,
  uniqueWord,
  type MarketplaceWorkflow,
  type Published,
} from '../marketplace-setup.js';

describe('marketplace list', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let author: Account;
  let anybody: ApiClient;

  before(async () => {
    stack = await sharedStack();
    author = await createAccount(stack);
    anybody = createApiClient(stack.apiUrl);
  });

  /** Returns the titles of the published workflows that contain the word, without the word. */
  const found = async (word: string, query = ''): Promise<string> => {
    const path = `/workflows/marketplace/?search=${word}${query}`;
    const { status, body } = await anybody.get<Page<MarketplaceWorkflow>>(path);
    assert.equal(status, 200, JSON.stringify(body));
    return body.items.map(({ market_title: title }) => title.replace(word, '')).join('');
  };

  describe('200: filters and ordering', () => {
    let word: string;
    let category: number;
    let subcategory: number;
    let all: Published[];

    before(async () => {
      word = uniqueWord();
      category = await createCategory(stack);
      subcategory = await createCategory(stack, category);
      all = [];
      for (const title of ['a', 'b', 'c']) all.push(await publish(stack, author, { market_title: `${word}${title}` }));
      const change = (index: number, body: object) =>
        author.api.patch(`/workflows/${all[index]!.workflowId}/`, { body });
      await change(0, { categories: [category], available_languages: ['en', 'fr'] });
      await change(1, { categories: [category], subcategories: [subcategory], available_languages: ['de'] });
      const days = ['2026-01-10T00:00:00Z', '2026-01-11T12:00:00Z', '2026-01-12T23:59:59.999Z'];
      for (const [index, day] of days.entries()) {
        const text = 'UPDATE workflows SET last_published_at = $1 WHERE id = $2';
        await queryDatabase(stack, text, [day, all[index]!.workflowId]);
      }
    });

    const filters: [name: string, query: () => string, expected: string][] = [
      ['without any, the last published come first', () => '', 'cba'],
      ['categories, repeatable', () => `&categories=${category}&categories=2147483647`, 'ba'],
      ['subcategories', () => `&subcategories=${subcategory}`, 'b'],
      ['a subcategory is no category', () => `&categories=${subcategory}`, ''],
      ['languages, comma-separated, match any', () => '&languages=fr,de', 'ba'],
      ['after is inclusive', () => '&marketplace_date_last_publication_after=2026-01-11', 'cb'],
      ['before is inclusive', () => '&marketplace_date_last_publication_before=2026-01-11', 'ba'],
      [
        'both bounds may be one day',
        () => '&marketplace_date_last_publication_after=2026-01-12&marketplace_date_last_publication_before=2026-01-12',
        'c',
      ],
      [
        'the first and the last day that can be written',
        () => '&marketplace_date_last_publication_after=0001-01-01&marketplace_date_last_publication_before=9999-12-31',
        'cba',
      ],
      [
        'all filters hold together',
        () => `&categories=${category}&languages=en&marketplace_date_last_publication_before=2026-01-10`,
        'a',
      ],
    ];
    for (const [name, query, expected] of filters) {
      it(`filters: ${name}`, async () => assert.equal(await found(word, query()), expected));
    }

    it('ordering by cost, last run or creation, both ways; copies count', async () => {
      const buyer = await createAccount(stack);
      const copyOfA = await copy(buyer, all[0]!.slug);
      const figures: [id: number, cost: string, lastRun: string | null][] = [
        [all[0]!.workflowId, '0.1', '2026-02-01T00:00:00Z'],
        [copyOfA, '0.5', '2026-02-09T00:00:00Z'],
        [all[1]!.workflowId, '0.3', '2026-02-05T00:00:00Z'],
        [all[2]!.workflowId, '0.2', null],
      ];
      for (const [id, cost, lastRun] of figures) {
        const text = `WITH gone AS (DELETE FROM workflow_changes WHERE workflow_id = $1)
          UPDATE workflow_totals SET total_cost_usd = $2, last_run_at = $3 WHERE workflow_id = $1`;
        await queryDatabase(stack, text, [id, cost, lastRun]);
      }
      const expected = {
        total_cost: 'cba',
        '-total_cost': 'abc',
        last_run_at: 'bac',
        '-last_run_at': 'abc',
        created_at: 'abc',
        '-created_at': 'cba',
      };
      for (const [ordering, order] of Object.entries(expected)) {
        assert.equal(await found(word, `&ordering=${ordering}`), order, ordering);
        const pages = [];
        for (const page of [1, 2, 3]) pages.push(await found(word, `&ordering=${ordering}&size=1&page=${page}`));
        assert.equal(pages.join(''), order, `${ordering} in pages`);
      }
    });
  });

  describe('400', () => {
    const refused: [query: string, field: string, sentence: string][] = [
      [
        '?marketplace_date_last_publication_after=2026-02-30',
        'marketplace_date_last_publication_after',
        'Enter a valid date.',
      ],
      [
        '?marketplace_date_last_publication_after=0000-01-01',
        'marketplace_date_last_publication_after',
        'Enter a valid date.',
      ],
      [
        '?marketplace_date_last_publication_before=01.02.2026',
        'marketplace_date_last_publication_before',
        'Enter a valid date.',
      ],
      ['?ordering=name', 'ordering', '"name" is not a valid choice.'],
      ['?categories=x', 'categories', 'A valid integer is required.'],
      ['?page=0', 'page', 'Ensure this value is greater than or equal to 1.'],
      ['?size=0', 'size', 'Ensure this value is greater than or equal to 1.'],
    ];
    for (const [query, field, sentence] of refused) {
      it(`"${query}" is a 400 on ${field}`, async () => {
        const { status, body } = await anybody.get<FieldErrors>(`/workflows/marketplace/${query}`);
        assert.deepEqual([status, body], [400, { [field]: [sentence] }]);
      });
    }
  });
});
