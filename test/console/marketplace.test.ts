import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { createAccount } from '../api/accounts.js';
import { createCategory, markRun, publish, uniqueWord } from '../api/marketplace-setup.js';
import { createPerson } from '../api/sessions/people.js';
import { condition, drawing, link, node, trigger } from '../../harness/drawing/drawing.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, useConsole } from './browser.js';

const GUIDE = `# How to use it

A [good link](https://good.example/page) and a [bad one](javascript:alert(1)).

![A picture](https://evil.example/track.png)

<script>document.title = 'run'</script> <img src=x onerror="document.title='run'">

| a | b |
|---|---|
| 1 | 2 |
`;
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });

describe('the marketplace', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => {
    const author = await createAccount(stack);
    const word = uniqueWord();
    const title = `Greeter <b>${word}</b>`;
    const category = await createCategory(stack);
    const [start, choice, yes] = [
      trigger([], { label: 'Who <i>' }),
      condition('1', '==', '1', { label: 'Is it so' }),
      condition('1', '==', '1', { label: 'Then' }),
    ];
    link(start, choice);
    link(choice, yes);
    const fields = {
      market_title: title,
      short_description: 'Greets & more',
      readme_guide: GUIDE,
      available_languages: ['en', 'de'],
      categories: [category],
      run_fee: '0.050',
      free_runs_per_user: 3,
    };
    const published = await publish(stack, author, fields, drawing([start, choice, yes]));
    await markRun(stack, published.runId, 'use_in_marketplace_example');
    return { author, word, title, published, category };
  });

  it('is open to visitors, and finds by text, category and language, which stand in the address', async () => {
    const page = await world.browser.visitor();
    await page.goto('/marketplace');
    await page.getByRole('searchbox', { name: 'Search marketplace' }).fill(world.word);
    // The list may contain only this workflow even before the search.
    await page.waitForURL((url) => url.searchParams.get('search') === world.word);
    const card = page.getByRole('article', { name: world.title });
    await page.getByText('1 workflow', { exact: true }).waitFor();
    const text = await card.innerText();
    for (const part of ['Greets & more', '0.05 USD a run, the first 3 are free', 'English, German']) {
      assert.ok(text.includes(part), text);
    }
    await page.getByRole('combobox', { name: 'Category' }).selectOption(String(world.category));
    await page.getByRole('combobox', { name: 'Language' }).selectOption('de');
    await page.getByRole('combobox', { name: 'Order' }).selectOption('-created_at');
    await page.waitForURL(/ordering=-created_at/);
    await assertAccessible(page, 'marketplace');
    await page.reload();
    await card.waitFor();
    assert.equal(await page.getByRole('searchbox', { name: 'Search marketplace' }).inputValue(), world.word);
    await page.getByRole('combobox', { name: 'Language' }).selectOption('fr');
    await page.getByText('No published workflow is like this.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('article').first().waitFor();
    assert.equal(new URL(page.url()).search, '?ordering=-created_at');
    await page.context().close();
  });

  it('shows a workflow whole: texts without markup of its author, fee, and an example with its graph', async () => {
    const page = await world.browser.visitor();
    await page.goto(`/marketplace/${world.published.slug}`);
    await heading(page, world.title).waitFor();
    await page.getByRole('heading', { name: 'How to use it' }).waitFor();
    const good = page.getByRole('link', { name: 'good link' });
    assert.match((await good.getAttribute('rel')) ?? '', /noopener/);
    assert.equal(await page.getByRole('link', { name: 'bad one' }).count(), 0);
    assert.equal(await page.getByRole('link', { name: 'Picture: A picture' }).count(), 1);
    assert.equal(await page.locator('main img').count(), 0);
    assert.notEqual(await page.title(), 'run');
    const graph = page.getByRole('region', { name: 'Graph' });
    for (const name of ['Who <i>, succeeded', 'Is it so, succeeded', 'Then, succeeded']) {
      await graph.getByRole('group', { name, exact: true }).waitFor();
    }
    await page.getByText('Who <i>').last().click();
    await page.getByRole('group', { name: 'Result of Who <i>' }).waitFor();
    await assertAccessible(page, 'marketplace item');
    await page.context().close();
  });

  it('leads a visitor through signing in and back, and adds a copy', async () => {
    const person = await createPerson(world.stack);
    const page = await world.browser.visitor(NARROW);
    await page.goto(`/marketplace/${world.published.slug}`);
    await page.getByRole('button', { name: 'Add to my workflows' }).click();
    await page.getByRole('textbox', { name: 'Email' }).fill(person.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(person.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await heading(page, world.title).waitFor();
    await assertFits(page);
    await page.getByRole('button', { name: 'Add to my workflows' }).click();
    await page.waitForURL(/\/workflows\/\d+$/);
    const copyId = new URL(page.url()).pathname.split('/').at(-1);
    await page.goto(`/marketplace/${world.published.slug}`);
    const own = page.getByRole('link', { name: 'Open my copy' });
    await own.waitFor();
    assert.equal(await own.getAttribute('href'), `/workflows/${copyId}`);
    await page.context().close();
  });

  it('says which files of an example a copy lacks', async () => {
    const paper = { file_id: randomUUID(), name: 'paper.txt', type: 'text/plain', size: 5, sha256: '0'.repeat(64) };
    const ask = node('human', { label: 'Ask', message: 'Well?', files: [paper] });
    const { slug } = await publish(world.stack, world.author, {}, drawing([trigger(), ask]));
    const person = await createPerson(world.stack);
    const page = await world.browser.person(person.userId, `/marketplace/${slug}`);
    await page.getByRole('button', { name: 'Add to my workflows' }).click();
    const dialog = page.getByRole('dialog', { name: /is in your workflows/ });
    await dialog.getByText('Choose a file in place of "paper.txt", which stays in its project.').waitFor();
    await assertAccessible(page, 'remarks on a copy');
    await dialog.getByRole('button', { name: 'Open workflow' }).click();
    await page.waitForURL(/\/workflows\/\d+$/);
    await page.context().close();
  });

  it('says Not found for what is not published', async () => {
    const page = await world.browser.visitor({ colorScheme: 'dark' });
    for (const slug of ['nothing-like-this', 'Not A Slug', '%3Cscript%3E']) {
      await page.goto(`/marketplace/${slug}`);
      await heading(page, 'Not found').waitFor();
    }
    await page.context().close();
  });

  it('has broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});
