// The store of files is away: its folder has become a file, so every access fails. Nodes that need it wait, and calls
// that must not be repeated are made once.
import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import {
  drawing,
  http,
  linkInRow,
  llm,
  mcp,
  node,
  trigger,
  type DrawingNode,
} from '../../../harness/drawing/drawing.js';
import { startStack, type TestStack } from '../../../harness/stack/stack.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { queryDatabase } from '../../support/inspect.js';
import { PNG } from '../../support/documents.js';
import { createFileClient, type FileValue } from '../../support/upload.js';
import { startFakeMcpServer, type FakeMcpServer } from '../../support/fake-mcp-server.js';

describe('while the store of files is away', function () {
  this.timeout(300_000);
  let root: string;
  let folder: string;
  let stack: TestStack;
  let api: ApiClient;
  let files: ReturnType<typeof createFileClient>;
  let target: HttpTarget;
  let servers: FakeMcpServer;
  let projectId: number;
  let stored: FileValue;

  before(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'store-'));
    folder = path.join(root, 'files');
    [target, servers] = await Promise.all([startHttpTarget(), startFakeMcpServer()]);
    stack = await startStack({ env: { FILES_DIR: folder } });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    files = createFileClient(stack);
    projectId = await api.createProject();
    stored = await files.upload(projectId, 'a text');
  });
  after(async () => {
    await stack?.stop();
    await Promise.all([target.close(), servers.close()]);
    await rm(root, { recursive: true, force: true });
  });

  async function takeAway(): Promise<void> {
    await rename(folder, `${folder}-aside`);
    await writeFile(folder, 'no folder');
  }
  async function bringBack(): Promise<void> {
    await rm(folder);
    await rename(`${folder}-aside`, folder);
  }

  async function start(one: DrawingNode): Promise<string> {
    return (await api.run(await api.createWorkflow(projectId, drawing(linkInRow([trigger(), one]))))).data.id;
  }
  /** Resolves when the node has been claimed, and its attempt was taken back. */
  async function untilHandedBack(runId: string, { id }: DrawingNode): Promise<void> {
    const text = 'SELECT FROM node_results WHERE run_id = $1 AND node_id = $2 AND attempts = 0';
    await eventually(async () => (await queryDatabase(stack, text, [runId, id])).length > 0, { timeoutMs: 120_000 });
  }

  it('uploads, downloads and starts with files are 503 with Retry-After, and nothing of them is left', async () => {
    const workflow = await api.createWorkflow(projectId, drawing(linkInRow([trigger(), llm('hello')])));
    const form = new FormData();
    form.append('input', '{}');
    form.append('doc', new Blob(['a text']), 'a.txt');
    await takeAway();
    try {
      const answers = [
        await files.send(`/projects/${projectId}/files/`, {
          method: 'POST',
          body: 'x',
          headers: { 'x-file-name': 'x' },
        }),
        await files.send(`/files/${stored.file_id}/content/`),
        await files.send(`/workflows/${workflow}/run/`, { method: 'POST', body: form }),
      ];
      for (const answer of answers) {
        assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5'], answer.url);
        assert.match(await answer.text(), /"unavailable"/);
      }
    } finally {
      await bringBack();
    }
    const { body } = await api.get<{ items: FileValue[] }>(`/projects/${projectId}/files/`);
    assert.deepEqual(
      body.items.map(({ file_id: id }) => id),
      [stored.file_id],
    );
    assert.equal((await files.bytesOf(stored.file_id))[1].toString(), 'a text');
  });

  it('nodes wait for it, and what they call is called once where it must not be repeated', async () => {
    const get = http(`${target.url}/get`, { settings: { response: 'file' } });
    const post = http(`${target.url}/post`, { method: 'POST', body: { a: 1 }, settings: { response: 'file' } });
    const sends = http(`${target.url}/sends`, { method: 'POST', body: { $file: stored } });
    const reads = node('llm', {
      messages: [{ role: 'user', message: 'What is it?', files: [stored] }],
      settings: { model_name: 'sandbox-echo' },
    });
    const code = node('code', { code: `return (await save('b.txt', 'made')).name;` });
    let drawn = 0;
    const tools = servers.endpoint({
      'tools/list': () => ({ tools: [{ name: 'draw', inputSchema: { type: 'object' } }] }),
      'tools/call': () => {
        drawn += 1;
        return { content: [{ type: 'image', mimeType: 'image/png', data: PNG.toString('base64') }] };
      },
    });
    const picture = mcp(tools.url, 'draw', {});
    await takeAway();
    let runs: Record<'get' | 'post' | 'sends' | 'reads' | 'code' | 'picture', string>;
    try {
      runs = {
        get: await start(get),
        post: await start(post),
        sends: await start(sends),
        reads: await start(reads),
        code: await start(code),
        picture: await start(picture),
      };
      const failed = (await api.pollToEnd(runs.post)).data.data![post.id]!;
      assert.deepEqual([failed.status, failed.error?.code], ['failed', 'files_unavailable']);
      for (const [runId, waits] of [
        [runs.sends, sends],
        [runs.reads, reads],
        [runs.code, code],
      ] as const) {
        await untilHandedBack(runId, waits);
      }
      await eventually(() => target.requestsTo('/get').length > 0 && drawn > 0, { timeoutMs: 120_000 });
      assert.equal(target.requestsTo('/sends').length, 0);
    } finally {
      await bringBack();
    }
    const contentOf = async (runId: string, { id }: DrawingNode): Promise<unknown> => {
      const { data } = await api.pollToEnd(runId);
      assert.equal(data.status, 'succeed', JSON.stringify(data.data![id]));
      return data.data![id]!.result;
    };
    const got = (await contentOf(runs.get, get)) as { file: FileValue };
    assert.match((await files.bytesOf(got.file.file_id))[1].toString(), /"\/get"/);
    await contentOf(runs.sends, sends);
    assert.match(JSON.stringify(await contentOf(runs.reads, reads)), /a text/);
    assert.match(JSON.stringify(await contentOf(runs.code, code)), /b\.txt/);
    const shown = (await contentOf(runs.picture, picture)) as { files: FileValue[] };
    assert.equal(shown.files.length, 1);
    assert.deepEqual([target.requestsTo('/post').length, target.requestsTo('/sends').length, drawn], [1, 1, 1]);
    assert.equal(target.requestsTo('/sends')[0]!.body, 'a text');
  });

  it('nodes wait for the key of a file, too, and send nothing before', async () => {
    const keyed = await files.upload(projectId, 'sealed');
    const whole = http(`${target.url}/whole`, { method: 'POST', body: { $file: keyed } });
    const form = http(`${target.url}/form`, { method: 'POST', body: { $form: { a: stored, b: keyed } } });
    const flipKey = async (): Promise<void> => {
      const sql = `UPDATE file_copies SET seal = set_byte(seal, 0, get_byte(seal, 0) # 1)
        WHERE id = (SELECT copy_id FROM files WHERE id = $1)`;
      await queryDatabase(stack, sql, [keyed.file_id]);
    };
    await flipKey();
    const [wholeRun, formRun] = [await start(whole), await start(form)];
    await untilHandedBack(wholeRun, whole);
    await untilHandedBack(formRun, form);
    assert.deepEqual([target.requestsTo('/whole').length, target.requestsTo('/form').length], [0, 0]);
    await flipKey();
    for (const runId of [wholeRun, formRun]) assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    assert.deepEqual([target.requestsTo('/whole').length, target.requestsTo('/form').length], [1, 1]);
    assert.equal(target.requestsTo('/whole')[0]!.body, 'sealed');
  });
});
