import assert from 'node:assert/strict';
import { type CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { findCatalogWorkflows, listCatalog, listLatestStatuses } from '../../../db/workflows/catalog-repository.js';
import { measureDrawings } from '../../../db/workflows/workflows-repository.js';
import { listMarketplace } from '../../../db/marketplace/marketplace-repository.js';
import type { Tables } from '../../../db/core/tables.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import { copy, publish, uniqueWord } from '../marketplace-setup.js';

const FILTERS = { categories: undefined, subcategories: undefined, languages: undefined, limit: 100, offset: 0 };

describe('statements of a page', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let db: Kysely<Tables>;
  let statements: CompiledQuery[];

  before(async () => {
    stack = await sharedStack();
    const pool = new pg.Pool({ connectionString: stack.stack.database_url, max: 1 });
    db = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool }),
      log({ query }) {
        statements.push(query);
      },
    });
  });
  beforeEach(() => {
    statements = [];
  });
  after(() => db.destroy());

  it('the catalog takes four, whatever the page holds, and one more for the last runs', async () => {
    const { api, userId } = await createAccount(stack);
    const project = await api.createProject();
    for (let count = 0; count < 12; count += 1) await api.createWorkflow(project, {});
    const catalog = {
      search: undefined,
      titleContains: undefined,
      projectId: undefined,
      tags: undefined,
      isOwn: false,
    };
    const query = { ...FILTERS, ...catalog };
    const { ids } = await listCatalog(db, { ...query, reach: { userId }, ordering: '-last_run_at' });
    await measureDrawings(db, ids);
    const workflows = await findCatalogWorkflows(db, ids, { userId }, 1_000_000);
    assert.deepEqual([workflows.length, statements.length], [12, 4]);
    assert.equal((await listLatestStatuses(db, ids)).size, 12);
    assert.equal(statements.length, 5);
  });

  it('the marketplace takes two, copies and caller included', async () => {
    const author = await createAccount(stack);
    const buyer = await createAccount(stack);
    const word = uniqueWord();
    for (let count = 0; count < 3; count += 1) {
      const { slug } = await publish(stack, author, { market_title: word });
      await copy(buyer, slug);
    }
    const query = { ...FILTERS, publishedFrom: undefined, publishedBefore: undefined, titleContains: word };
    const { workflows } = await listMarketplace(db, { ...query, reach: buyer, ordering: '-total_cost' });
    assert.deepEqual([workflows.length, statements.length], [3, 2]);
    assert.ok(workflows.every((workflow) => workflow.copy_id !== null));
  });
});
