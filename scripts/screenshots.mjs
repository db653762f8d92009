// Takes the screenshots of the README: the first sample workflow in the editor, and a live run of it. Starts its own
// stack and signs in with the link that `npm start` prints.
//
//   node scripts/screenshots.mjs [FOLDER]      default: docs
import chromium from '@sparticuz/chromium';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium as driver } from 'playwright-core';

const ROOT = path.resolve(import.meta.dirname, '..');
const SAMPLE = JSON.parse(readFileSync(path.join(ROOT, 'examples/graphs/news-verdict.json'), 'utf8'));
/** The selected node. Its answer is worth showing, while the other nodes are clear from their kinds. */
const CHOSEN = SAMPLE.data.nodes.find(({ type }) => type === 'basic-node').data.label;
const VIEW = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1, colorScheme: 'light' };
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
const MAX_BYTES = 200_000;
/** The time for the bar of the node in flight to grow to a visible length. */
const GROWS_MS = 1_500;
const KEPT_VARIABLES = [
  'PATH',
  'HOME',
  'USER',
  'LANG',
  'TMPDIR',
  'XDG_CACHE_HOME',
  'TEMPORAL_CLI',
  'GOFLAGS',
  'GOPROXY',
];

const folder = path.resolve(process.argv[2] ?? path.join(ROOT, 'docs'));
const dataDir = mkdtempSync(path.join(tmpdir(), 'screenshots-'));
// If root runs this, PostgreSQL's account must be able to enter the directory.
chmodSync(dataDir, 0o755);
const stack = startStack();
const browser = await driver.launch({
  executablePath: process.env.CHROMIUM || (await chromium.executablePath()),
  args: ARGS,
});
const gate = await openGate();
try {
  const page = await browser.newPage({ ...VIEW, reducedMotion: 'reduce' });
  await page.goto(await stack.link);
  await page.getByRole('link', { name: SAMPLE.title, exact: true }).click();
  await shootEditor(page);
  await shootLiveRun(page);
} finally {
  await browser.close();
  await gate.close();
  await stack.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

async function shootEditor(page) {
  await nodeIn(page, CHOSEN).click();
  await page.getByRole('region', { name: 'Node', exact: true }).getByRole('textbox', { name: 'Label' }).waitFor();
  await shoot(page, 'editor.png');
}

/** Takes the picture while the gate holds the run at its last node, which posts the results of the others. */
async function shootLiveRun(page) {
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Run workflow' });
  const address = dialog.getByRole('textbox', { name: 'Address of the sources' });
  gate.leadsTo = await address.inputValue();
  await address.fill(gate.url);
  await dialog.getByRole('button', { name: 'Start run' }).click();
  await page.getByRole('link', { name: 'Open run' }).click();
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}/);
  await nodeIn(page, /, in progress$/).waitFor();
  await nodeIn(page, `${CHOSEN}, succeeded`).click();
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
  // waitForFunction is no option: it evaluates a string in the page, which the page's policy forbids.
  while ((await page.locator('[aria-busy="true"]').count()) > 0) await pause(50);
  const picture = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  if (picture.length > MAX_BYTES) throw new Error(`${name} has ${picture.length} bytes, more than ${MAX_BYTES}`);
  writeFileSync(path.join(folder, name), picture);
  console.log(`${path.join(folder, name)}: ${Math.ceil(picture.length / 1000)} kB`);
}

/**
 * `link` rejects if the stack ends before it is ready. Starts no model provider, so that the pictures
 * are always the same.
 */
function startStack() {
  const kept = Object.entries(process.env).filter(([name]) => KEPT_VARIABLES.includes(name));
  const ports = { PORT: '0', POSTGRES_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' };
  const child = spawn(process.execPath, [path.join(ROOT, 'dist/cli/start.js'), '--until-stdin-closes'], {
    env: { ...Object.fromEntries(kept), ...ports, DATA_DIR: dataDir },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  let output = '';
  const link = new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
      const found = /^Console: (\S+#token=\S+)\n/m.exec(output);
      if (found !== null) resolve(found[1]);
    });
    child.once('close', () => reject(new Error(`the stack has ended:\n${output}`)));
  });
  // Avoids an unhandled rejection: it is awaited only after the browser has started.
  link.catch(() => undefined);
  const stop = async () => {
    child.stdin.end();
    await ended;
  };
  return { link, stop };
}

/** A proxy in front of the samples' targets that forwards GET requests, and holds POST requests until it is opened. */
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
