// Files in the console: chosen for inputs and answers, shown in results, listed for projects. Extensions, section 12.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { createAccount } from '../api/accounts.js';
import { eventually } from '../support/eventually.js';
import { drawing, linkInRow, node, trigger, type DrawingNode } from '../support/graphs.js';
import { createPdf, PNG, WAV } from '../support/media.js';
import { createFileClient, type FileValue } from '../support/upload.js';
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
    await eventually(async () => (await dialog.getByRole('progressbar').count()) === 0);
    await assertAccessible(page, 'the dialog with chosen files');
    await button(dialog, 'Start run').click();
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
});

/** Whether something is drawn on the page's canvas. */
const INKED = `(() => { const page = document.querySelector('canvas.pdf-page');
  const { data } = page.getContext('2d').getImageData(0, 0, page.width, page.height);
  return data.some((value, at) => at % 4 !== 3 && value < 128); })()`;
