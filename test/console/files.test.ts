// Files in the console: chosen for inputs and answers, shown in results, listed for projects.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { createAccount, giveRole } from '../api/accounts.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  agent,
  drawing,
  http,
  linkInRow,
  llm,
  node,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { createPdf, PNG, WAV } from '../support/media.js';
import { createFileClient, type FileValue } from '../support/upload.js';
import { taskOf } from '../support/waiting.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const button = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true });
const group = (within: Page | Locator, name: string) => within.getByRole('group', { name, exact: true });
const figure = (within: Page | Locator, name: string) => within.getByRole('figure', { name, exact: true });

interface Chosen {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

async function choose(page: Page, field: Locator, files: Chosen | Chosen[]): Promise<void> {
  const asked = page.waitForEvent('filechooser');
  await button(field, 'Choose file').click();
  await (await asked).setFiles(files);
}

async function drop(page: Page, field: Locator, name: string, text: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    `(() => { const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}, { type: 'text/plain' }));
      return transfer; })()`,
  );
  await field.getByRole('button', { name: 'Choose file' }).dispatchEvent('drop', { dataTransfer: transfer });
}

describe('files in the console', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => {
    const owner = await createAccount(stack);
    const files = createFileClient({ apiUrl: stack.apiUrl, apiKey: owner.apiKey });
    return { owner, files, project: await owner.api.createProject('Papers') };
  });

  const doc = { id: 'doc', title: 'Document', type: 'file', input_requirements: true };
  const many = { id: 'more', title: 'Further files', type: 'files' };
  const workflowOf = (nodes: DrawingNode[], title = 'Reads') =>
    world.owner.api.createWorkflow(world.project, drawing(linkInRow(nodes)), title);
  const pdf = (): Chosen => ({
    name: 'invoice.pdf',
    mimeType: 'application/pdf',
    buffer: createPdf(['Invoice 7', 'Page two']),
  });
  const png = (): Chosen => ({ name: 'photo.png', mimeType: 'image/png', buffer: PNG });

  it('files are chosen or dropped for the fields of a run, uploaded, removed, and shown in its result', async () => {
    const start = trigger([doc, many], { label: 'Start' });
    const id = await workflowOf([start, node('output', { label: 'Out', value: { doc: '{{ input.doc }}' } })]);
    const page = await world.browser.person(world.owner.userId, `/workflows/${id}`);
    await button(page, 'Run').click();
    const dialog = page.getByRole('dialog', { name: 'Run workflow' });
    const [one, more] = [group(dialog, 'Document'), group(dialog, 'Further files')];
    await assertAccessible(page, 'the dialog with files');
    await choose(page, one, { name: 'wrong.txt', mimeType: 'text/plain', buffer: Buffer.from('wrong') });
    await one.getByText('wrong.txt').waitFor();
    await choose(page, one, pdf());
    await one.getByText('invoice.pdf').waitFor();
    assert.equal(await one.getByText('wrong.txt').count(), 0, 'a field for one file has the last one');
    await choose(page, more, [png(), { name: 'sound.wav', mimeType: 'audio/wav', buffer: WAV }]);
    await drop(page, more, 'dropped.csv', 'item,price\nPen,"1,50"\n');
    await drop(page, more, 'mistake.txt', 'x');
    await button(more, 'Remove mistake.txt').click();
    await drop(
      page,
      more,
      'drawn.svg',
      '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "taken"</script></svg>',
    );
    await drop(page, more, 'page.html', '<h1 onclick="x()">Not markup</h1>');
    await drop(page, more, 'bytes.bin', '\u0000\u0001');
    await more.getByText('bytes.bin').first().waitFor();
    await eventually(async () => (await dialog.getByRole('progressbar').count()) === 0);
    await assertAccessible(page, 'the dialog with chosen files');
    await button(dialog, 'Start run').click();
    await region(page, 'Last run').getByRole('link', { name: 'Open run' }).click();
    await page.waitForURL('**/runs/*');
    const runId = new URL(page.url()).pathname.split('/')[2]!;
    const { data } = await world.owner.api.pollToEnd(runId);
    const input = JSON.parse(data.data![start.id]!.result!.content) as { doc: FileValue; more: FileValue[] };
    assert.deepEqual((await world.files.bytesOf(input.doc.file_id))[1], pdf().buffer);
    assert.deepEqual(input.more.map(({ name }) => name).toSorted(), [
      'bytes.bin',
      'drawn.svg',
      'dropped.csv',
      'page.html',
      'photo.png',
      'sound.wav',
    ]);

    const result = region(page, 'Node');
    await page.goto(`/runs/${runId}?node=${start.id}`);
    const paper = figure(result, 'invoice.pdf');
    await paper.getByText('application/pdf').waitFor();
    await group(paper, 'Page 1 of 2 of invoice.pdf').waitFor();
    await eventually(async () => (await paper.locator('canvas').textContent()) === 'Invoice 7');
    await eventually(() => page.evaluate(INKED));
    await button(paper, 'Next page').click();
    await group(paper, 'Page 2 of 2 of invoice.pdf').waitFor();
    await eventually(async () => (await paper.locator('canvas').textContent()) === 'Page two');
    const photo = figure(result, 'photo.png').getByRole('img', { name: 'photo.png' });
    await eventually(() => page.evaluate("document.querySelector('img.file-image')?.naturalWidth === 8"));
    assert.match((await photo.getAttribute('src'))!, /^blob:/);
    await figure(result, 'sound.wav').getByLabel('sound.wav').waitFor();
    await eventually(() => page.evaluate("document.querySelector('audio')?.duration > 0.04"));
    await figure(result, 'dropped.csv').getByRole('cell', { name: '1,50' }).waitFor();
    await figure(result, 'drawn.svg').getByText('<script>').waitFor();
    await figure(result, 'page.html').getByText('<h1 onclick="x()">Not markup</h1>').waitFor();
    assert.equal(await figure(result, 'bytes.bin').locator('pre, img, audio, table').count(), 0);
    assert.notEqual(await page.title(), 'taken');
    const saved = page.waitForEvent('download');
    await button(paper, 'Download').click();
    const download = await saved;
    assert.equal(download.suggestedFilename(), 'invoice.pdf');
    assert.deepEqual(await readFile(await download.path()), pdf().buffer);
    await assertAccessible(page, 'the files of a result');
    await page.setViewportSize(NARROW.viewport);
    await assertFits(page, 'the files of a result');
    world.browser.assertClean();
    await page.context().close();
  });

  it('an upload that fails says why and keeps the run from starting, until it is tried again or removed', async () => {
    const id = await workflowOf([trigger([doc], { label: 'Start' })]);
    const page = await world.browser.person(world.owner.userId, `/workflows/${id}`, NARROW);
    await button(page, 'Run').click();
    const dialog = page.getByRole('dialog', { name: 'Run workflow' });
    const one = group(dialog, 'Document');
    const path = '**/api/v1/projects/*/files/';
    const answers = [
      [413, { detail: 'x', code: 'quota_exceeded' }, 'The project has no room for it'],
      [413, { detail: 'x', code: 'body_too_large' }, 'It is larger than a file may be.'],
    ] as const;
    for (const [status, json, sentence] of answers) {
      await page.route(path, (route) => route.fulfill({ status, json }));
      await choose(page, one, png());
      await one.getByRole('alert').getByText(sentence).waitFor();
      await page.unroute(path);
    }
    await assertAccessible(page, 'an upload that has failed');
    await assertFits(page, 'an upload that has failed');
    for (const name of ['Choose file', 'Try again', 'Remove photo.png']) {
      assert.ok((await button(one, name).boundingBox())!.height >= 44, name);
    }
    assert.ok(await button(dialog, 'Start run').isDisabled());
    await page.context().setOffline(true);
    await button(one, 'Try again').click();
    await one.getByText('The service cannot be reached.').waitFor();
    await page.context().setOffline(false);
    await button(one, 'Try again').click();
    await one.getByRole('alert').waitFor({ state: 'detached' });
    await button(dialog, 'Start run').click();
    await region(page, 'Last run').waitFor();
    await page.context().close();
  });

  it('an approver sees the files of a task on a phone, and answers with another one', async () => {
    const given = await world.files.upload(world.project, createPdf(['Invoice 7']), 'given.pdf', 'application/pdf');
    const ask = node('human', {
      label: 'Sign it',
      message: 'Please sign.',
      files: '{{ input.doc }}',
      fields: [{ id: 'signed', title: 'Signed copy', type: 'file', input_requirements: true }],
      actions: [{ id: 'yes', label: 'Send' }],
    });
    const id = await workflowOf([trigger([doc]), ask], 'Signs');
    const run = (await world.owner.api.run(id, { doc: given })).data.id;
    const task = await taskOf(world.owner.api, run, ask.id);
    const page = await world.browser.person(world.owner.userId, `/inbox/${task}`, NARROW);
    const article = page.getByRole('article', { name: 'Sign it' });
    await group(figure(article, 'given.pdf'), 'Page 1 of 1 of given.pdf').waitFor();
    await button(article, 'Send').click();
    await article.getByText('Fill this in.').waitFor();
    await choose(page, group(article, 'Signed copy'), { ...pdf(), name: 'signed.pdf' });
    await article.getByText('signed.pdf').first().waitFor();
    await eventually(async () => (await article.getByRole('progressbar').count()) === 0);
    await assertAccessible(page, 'a task with files');
    await assertFits(page, 'a task with files');
    await button(article, 'Send').click();
    await figure(article, 'signed.pdf').waitFor();
    const { data } = await world.owner.api.pollToEnd(run);
    const { values } = data.data![ask.id]!.result as unknown as { values: { signed: FileValue } };
    assert.deepEqual((await world.files.bytesOf(values.signed.file_id))[1], pdf().buffer);
    world.browser.assertClean();
    await page.context().close();
  });

  it('the settings list the files of a project with their uses, and upload, download and delete them', async () => {
    const project = await world.owner.api.createProject('Shelf');
    const used = await world.files.upload(project, 'used '.repeat(1_000), 'used.txt');
    await world.files.upload(project, 'idle', 'idle.txt');
    const wait = node('wait', { mode: 'duration', seconds: 600 });
    const data = drawing(linkInRow([trigger([doc]), wait]));
    const id = await world.owner.api.createWorkflow(project, data, 'Waits');
    const run = (await world.owner.api.run(id, { doc: used })).data.id;
    const page = await world.browser.person(world.owner.userId, `/settings?tab=files&project=${project}`);
    const table = page.getByRole('table', { name: 'Files' });
    const row = (name: string) => table.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) });
    await row('used.txt').getByText('1 run').waitFor();
    await row('idle.txt').getByText('nothing').waitFor();
    await choose(page, group(page, 'Upload'), {
      name: 'new.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('new one'),
    });
    await row('new.txt').getByText('7 bytes').waitFor();
    await page.getByRole('combobox', { name: 'Order' }).selectOption('Largest first');
    await eventually(
      async () => (await table.getByRole('rowheader').allTextContents()).join() === 'used.txt,new.txt,idle.txt',
    );
    await assertAccessible(page, 'the files of a project');
    await button(page, 'Delete used.txt').click();
    const asked = page.getByRole('alertdialog', { name: 'Delete file' });
    await asked.getByText('It is used by 1 run').waitFor();
    await button(asked, 'Delete').click();
    await asked.getByText('A run in flight holds the file.').waitFor();
    await button(asked, 'Cancel').click();
    await page.getByRole('searchbox', { name: 'Search files' }).fill('idle');
    await row('used.txt').waitFor({ state: 'detached' });
    const saved = page.waitForEvent('download');
    await button(page, 'Download idle.txt').click();
    assert.equal(await readFile(await (await saved).path(), 'utf8'), 'idle');
    await button(page, 'Delete idle.txt').click();
    await button(asked, 'Delete').click();
    await page.getByText('No file has such a name.').waitFor();
    await page.setViewportSize(NARROW.viewport);
    await assertFits(page, 'the files of a project');
    await world.owner.api.post(`/workflows/${id}/history/${run}/cancel/`);
    const viewer = await createAccount(world.stack);
    await giveRole(world.stack, viewer, project, 'viewer');
    const reader = await world.browser.person(viewer.userId, `/settings?tab=files&project=${project}`);
    const read = reader.waitForEvent('download');
    await button(reader, 'Download new.txt').click();
    assert.equal(await readFile(await (await read).path(), 'utf8'), 'new one', 'who may only read gets the bytes, too');
    assert.equal(await button(reader, 'Delete new.txt').count(), 0);
    world.browser.assertClean();
    await reader.context().close();
    await page.context().close();
  });

  it('the settings show the last page that there is once the only file of a page is deleted', async () => {
    const project = await world.owner.api.createProject('Two pages');
    for (let number = 1; number <= 21; number += 1) await world.files.upload(project, 'x', `file ${number}.txt`);
    const page = await world.browser.person(world.owner.userId, `/settings?tab=files&project=${project}`);
    const rows = page.getByRole('table', { name: 'Files' }).getByRole('rowheader');
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await button(pages, 'Next page').click();
    await pages.getByText('Page 2 of 2').waitFor();
    // The newest file is on the first page.
    await button(page, 'Delete file 1.txt').click();
    await button(page.getByRole('alertdialog', { name: 'Delete file' }), 'Delete').click();
    await eventually(async () => (await rows.count()) === 20);
    await pages.waitFor({ state: 'detached' });
    assert.equal(await page.getByText('This project has no files.').count(), 0);
    world.browser.assertClean();
    await page.context().close();
  });

  it('messages of models and agents take files', async () => {
    const project = await world.owner.api.createProject('Messages');
    const file = await world.files.upload(project, 'stored', 'stored.txt');
    const nodes = [
      trigger([many], { label: 'Start' }),
      llm('Read it', { label: 'Model' }),
      agent('Work on it', {}, [], { label: 'Agent' }),
    ];
    const id = await world.owner.api.createWorkflow(project, drawing(linkInRow(nodes)), 'Messages');
    const page = await world.browser.person(world.owner.userId, `/workflows/${id}`);
    const files = group(region(page, 'Node'), 'Files');
    await group(region(page, 'Graph'), 'Model').click();
    await button(region(page, 'Node'), 'Add files').click();
    await files.getByRole('combobox', { name: 'Uploaded file' }).selectOption('stored.txt');
    await files.getByText('stored.txt', { exact: true }).first().waitFor();
    await assertAccessible(page, 'the files of a message');
    await group(region(page, 'Graph'), 'Agent').click();
    await button(region(page, 'Node'), 'Add files').click();
    await button(files, 'Add variable').click();
    await files.getByRole('textbox', { name: 'Files 1' }).fill('{{ input.more }}');
    const answered = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await button(page, 'Save').click();
    await answered;
    const { body } = await world.owner.api.get<{ data: { nodes: DrawingNode[] } }>(`/workflows/${id}/`);
    const given = body.data.nodes.slice(1).map(({ data }) => (data['messages'] as { files?: unknown }[])[0]!.files);
    assert.deepEqual(given, [[file], '{{ input.more }}']);
    world.browser.assertClean();
    await page.context().close();
  });

  it('nodes take uploaded files and variables, and requests send a file or a form with files', async () => {
    const start = trigger([doc], { label: 'Start' });
    const call = http('https://example.com/', { label: 'Send', method: 'POST' });
    const ask = node('human', { label: 'Check', message: 'Well?' });
    const project = await world.owner.api.createProject('Picks');
    const file = await world.files.upload(project, 'stored', 'stored.txt');
    const id = await world.owner.api.createWorkflow(project, drawing(linkInRow([start, call, ask])), 'Picks');
    const page = await world.browser.person(world.owner.userId, `/workflows/${id}`);
    const form = region(page, 'Node');
    const select = (name: string) => group(region(page, 'Graph'), name).click();
    const saved = async () => {
      const answered = page.waitForResponse((response) => response.request().method() === 'PATCH');
      await button(page, 'Save').click();
      await answered;
      const { body } = await world.owner.api.get<{ data: { nodes: DrawingNode[] } }>(`/workflows/${id}/`);
      return body.data.nodes.map(({ data }) => data);
    };
    await select('Check');
    await form.getByText('More', { exact: true }).click();
    const shown = group(form, 'Files');
    await shown.getByRole('combobox', { name: 'Uploaded file' }).selectOption('stored.txt');
    await shown.getByText('stored.txt', { exact: true }).first().waitFor();
    await button(shown, 'Add variable').click();
    await shown.getByRole('textbox', { name: 'Files 2' }).fill('{{ input.doc }}');
    await assertAccessible(page, 'a picker of files');
    await select('Send');
    const type = form.getByRole('combobox', { name: 'Body type' });
    await type.selectOption('File');
    await choose(page, group(form, 'Body'), {
      name: 'fresh.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('fresh'),
    });
    await button(form, 'Remove Body 1').waitFor();
    const [, sent, checked] = await saved();
    assert.deepEqual(checked!['files'], [file, '{{ input.doc }}']);
    assert.equal((sent!['body'] as { $file: FileValue }).$file.name, 'fresh.txt');
    await type.selectOption('Form with files');
    await button(group(form, 'Body'), 'Add text or variable').click();
    await form.getByRole('textbox', { name: 'Body 1 value' }).fill('{{ input.doc }}');
    await group(form, 'Body').getByRole('combobox', { name: 'Uploaded file' }).selectOption('stored.txt');
    await form.getByRole('textbox', { name: 'Body 2 name' }).fill('paper');
    const [, multipart] = await saved();
    assert.deepEqual(multipart!['body'], { $form: { text: '{{ input.doc }}', paper: file } });
    await button(page, 'Add HTTP request').click();
    const [, , , added] = await saved();
    assert.deepEqual(added!['settings'], { response: 'auto' }, 'new requests take files as files');
    await page.setViewportSize(NARROW.viewport);
    await assertFits(page, 'a picker of files');
    world.browser.assertClean();
    await page.context().close();
  });

  it('a body of one file shows a text that is empty, and no text takes the place of the file', async () => {
    const project = await world.owner.api.createProject('Whole bodies');
    await world.files.upload(project, 'stored', 'stored.txt');
    const call = http('https://example.com/', { label: 'Send', method: 'POST' });
    const data = drawing(linkInRow([trigger([doc], { label: 'Start' }), call]));
    const id = await world.owner.api.createWorkflow(project, data, 'Whole bodies');
    const page = await world.browser.person(world.owner.userId, `/workflows/${id}`);
    await group(region(page, 'Graph'), 'Send').click();
    await region(page, 'Node').getByRole('combobox', { name: 'Body type' }).selectOption('File');
    const body = group(region(page, 'Node'), 'Body');
    const add = button(body, 'Add variable');
    const text = body.getByRole('textbox', { name: 'Body 1', exact: true });
    await add.click();
    await text.fill('{{ input.doc }}');
    await text.fill('');
    await text.fill('{{ input.doc }}');
    assert.ok(await add.isDisabled());
    await body.getByRole('combobox', { name: 'Uploaded file' }).selectOption('stored.txt');
    await text.waitFor({ state: 'detached' });
    assert.ok(await add.isDisabled(), 'it would remove the file');
    await button(body, 'Remove Body 1').click();
    await add.click();
    await text.waitFor();
    world.browser.assertClean();
    await page.context().close();
  });

  it('fields of a form keep each letter of their names, and their places, while they are renamed', async () => {
    const project = await world.owner.api.createProject('Forms');
    const body = { $form: { file: 'a', other: 'b' } };
    const call = http('https://example.com/', { label: 'Send', method: 'POST', body });
    const data = drawing(linkInRow([trigger([], { label: 'Start' }), call]));
    const id = await world.owner.api.createWorkflow(project, data, 'Forms');
    const page = await world.browser.person(world.owner.userId, `/workflows/${id}`);
    await group(region(page, 'Graph'), 'Send').click();
    const form = region(page, 'Node');
    const name = (row: number) => form.getByRole('textbox', { name: `Body ${row} name`, exact: true });
    await name(2).fill('');
    // Its first four letters are the name of the other row.
    await name(2).pressSequentially('file2');
    assert.equal(await name(2).inputValue(), 'file2');
    // JavaScript puts a key that is a number before the others.
    await name(2).fill('7');
    assert.deepEqual([await name(1).inputValue(), await name(2).inputValue()], ['file', '7']);
    const answered = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await button(page, 'Save').click();
    await answered;
    const saved = await world.owner.api.get<{ data: { nodes: DrawingNode[] } }>(`/workflows/${id}/`);
    assert.deepEqual(saved.body.data.nodes[1]!.data['body'], { $form: { file: 'a', 7: 'b' } });
    world.browser.assertClean();
    await page.context().close();
  });
});

/** An expression that is true if something is drawn on the page's canvas. */
const INKED = `(() => { const page = document.querySelector('canvas.pdf-page');
  const { data } = page.getContext('2d').getImageData(0, 0, page.width, page.height);
  return data.some((value, at) => at % 4 !== 3 && value < 128); })()`;
