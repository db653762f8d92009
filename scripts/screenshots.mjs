// Takes the screenshots of the README: the editor with an opened node of the first sample workflow, a live run of the
// workflow, and a chat beside its drawing. Starts its own stack, and signs in by the link that `npm start` prints.
//
//   node scripts/screenshots.mjs [FOLDER]      default: docs
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium as driver } from 'playwright-core';
import { chromiumPath } from '../dist/harness/browser/chromium.js';
import { makeDataDir, spawnSupervisor, stopSupervisor, untilReady } from '../dist/harness/stack/supervisor.js';
import { eventually } from '../dist/harness/timing/eventually.js';

const ROOT = path.resolve(import.meta.dirname, '..');
const SAMPLE = JSON.parse(readFileSync(path.join(ROOT, 'examples/graphs/news-verdict.json'), 'utf8'));
/** The node that the screenshots show in detail, because its answer is of interest and not only its kind. */
const CHOSEN = SAMPLE.data.nodes.find(({ type }) => type === 'basic-node').data.label;
const VIEW = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1, colorScheme: 'light' };
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
const MAX_BYTES = 200_000;
/** In this time, the bar of the node in flight grows to a visible length. */
const GROWS_MS = 1_500;
/** The limit for each step, long enough for a slow machine. */
const LONGEST_MS = 120_000;

const folder = path.resolve(process.argv[2] ?? path.join(ROOT, 'docs'));
const dataDir = makeDataDir();
const supervisor = spawnSupervisor(dataDir);
const browser = await driver.launch({
  executablePath: await chromiumPath(),
  args: ARGS,
});
const gate = await openGate();
try {
  const page = await browser.newPage({ ...VIEW, reducedMotion: 'reduce' });
  page.setDefaultTimeout(LONGEST_MS);
  await page.goto(await linkOf(supervisor));
  await page.getByRole('link', { name: SAMPLE.title, exact: true }).click();
  await shootLiveRun(page);
  await shootEditor(page);
  await shootChat(page);
} finally {
  await browser.close();
  await gate.close();
  await stopSupervisor(supervisor.child);
  rmSync(dataDir, { recursive: true, force: true });
}

/** In the editor, the opened node shows the values of the previous run. */
async function shootEditor(page) {
  await page.getByRole('link', { name: 'Open in the editor' }).click();
  await nodeIn(page, new RegExp(`^${CHOSEN}(,|$)`)).dblclick();
  const incoming = page.getByRole('region', { name: 'What comes in' });
  await incoming.getByText('of the last run').first().waitFor();
  await shoot(page, 'editor.png');
  await page.keyboard.press('Escape');
}

async function shootChat(page) {
  await page.goto(new URL('/workflows', page.url()).href);
  await page.getByRole('button', { name: 'New workflow', exact: true }).click();
  await page.keyboard.type('Help desk');
  await page.keyboard.press('Enter');
  await page
    .getByRole('region', { name: 'Start', exact: true })
    .getByRole('button', { name: 'Chat', exact: true })
    .click();
  const preview = page.getByRole('region', { name: 'Chat preview', exact: true });
  await preview.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
  await page.keyboard.type('How long do you keep results?');
  await page.keyboard.press('Enter');
  await preview.getByText(/^\[sandbox\]/).waitFor();
  await page.getByText('All changes saved').waitFor();
  await page.getByRole('button', { name: 'Fit View', exact: true }).click();
  await shoot(page, 'chat.png');
}

/** The gate holds the run at its last node, which posts the results of the others, until the screenshot is taken. */
async function shootLiveRun(page) {
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Run workflow' });
  const address = dialog.getByRole('textbox', { name: 'Address of the sources' });
  gate.leadsTo = await address.inputValue();
  await address.fill(gate.url);
  await dialog.getByRole('button', { name: 'Start run' }).click();
  await page.getByRole('link', { name: 'Open run' }).click();
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}/);
  await nodeIn(page, `${CHOSEN}, succeeded`).click();
  await nodeIn(page, /, in progress$/).waitFor();
  await page.getByRole('tab', { name: 'Result' }).waitFor();
  await pause(GROWS_MS);
  await shoot(page, 'run-live.png');
  gate.open();
  await page.getByRole('status').getByText('Run succeeded').waitFor();
}

function nodeIn(page, name) {
  return page.getByRole('region', { name: 'Graph' }).getByRole('group', { name, exact: typeof name === 'string' });
}

async function shoot(page, name) {
  // waitForFunction is not used, because it evaluates a string, which the content security policy of the page forbids.
  while ((await page.locator('[aria-busy="true"]').count()) > 0) await pause(50);
  const picture = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  if (picture.length > MAX_BYTES) throw new Error(`${name} has ${picture.length} bytes, more than ${MAX_BYTES}`);
  writeFileSync(path.join(folder, name), picture);
  console.log(`${path.join(folder, name)}: ${Math.ceil(picture.length / 1000)} kB`);
}

/**
 * Returns the link that signs in. Rejects if the stack ends before it is ready. The stack has no model provider, so
 * that everybody gets the same pictures.
 */
async function linkOf({ child, output }) {
  await untilReady(child, dataDir);
  return eventually(() => /^Console: (\S+#token=\S+)\n/m.exec(output())?.[1]);
}

/** Starts a proxy in front of the samples' targets. It forwards reads at once, and posts after it was opened. */
async function openGate() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  const server = createServer((request, response) => {
    void pass(request, response).catch((error) => response.writeHead(502).end(String(error)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gateway = { url: `http://127.0.0.1:${server.address().port}`, leadsTo: '', open, close };
  return gateway;

  async function pass(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method === 'POST') await opened;
    const body = chunks.length === 0 ? undefined : Buffer.concat(chunks);
    const answer = await fetch(`${gateway.leadsTo}${request.url}`, { method: request.method, body });
    const type = answer.headers.get('content-type') ?? 'text/plain';
    response.writeHead(answer.status, { 'content-type': type }).end(await answer.text());
  }

  async function close() {
    open();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
}
