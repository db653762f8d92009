// A tenant who stalls and breaks off uploads: others are served meanwhile, and nothing is left in the file store.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { createAccount, giveRole, type Account } from '../accounts.js';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { drawing, linkInRow, node, trigger } from '../../../harness/drawing/drawing.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { startStack, type StartedStack } from '../../../harness/stack/stack.js';
import { createFileClient } from '../../support/upload.js';
import { taskOf } from '../../support/waiting.js';

const STALLED = 150;

describe('a malicious tenant with many uploads', function () {
  this.timeout(240_000);
  let stack: StartedStack;
  let hostile: Account;
  let api: ApiClient;
  let projectId: number;
  let ownProject: number;

  before(async function () {
    this.timeout(200_000);
    stack = await startStack();
    hostile = await createAccount(stack);
    api = createApiClient(stack.apiUrl, stack.apiKey);
    [projectId, ownProject] = [await hostile.api.createProject(), await api.createProject()];
  });
  after(() => stack.stop());

  const stored = async (): Promise<number> =>
    (await readdir(path.join(stack.dataDir, 'files'), { recursive: true, withFileTypes: true })).filter(
      (entry) => entry.isFile() && entry.name !== 'store-mark',
    ).length;

  interface Stalled {
    request: http.ClientRequest;
    status: Promise<number>;
  }

  /** Starts an upload that sends only a part of the announced body. */
  function stall(contentType = 'application/octet-stream'): Stalled {
    const request = http.request(`${stack.apiUrl}/api/v1/projects/${projectId}/files/`, {
      method: 'POST',
      agent: false,
      headers: { 'x-api-key': hostile.apiKey, 'content-type': contentType, 'content-length': '50000000' },
    });
    const status = new Promise<number>((resolve) => {
      request.on('response', (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      request.on('error', () => resolve(0));
    });
    request.write(randomBytes(40_000));
    return { request, status };
  }

  it('stalls 150 uploads: others upload and run meanwhile, each ends with 408, and nothing is left', async () => {
    await createFileClient(stack).upload(ownProject, 'before');
    const before = await stored();
    const begun = performance.now();
    const stalled = Array.from({ length: STALLED }, () => stall());
    const ended: number[] = [];
    for (const { status } of stalled) void status.then((code) => ended.push(code));
    await eventually(async () => (await stored()) === before + STALLED);
    const files = createFileClient(stack);
    const workflow = await api.createWorkflow(ownProject, drawing([trigger()]));
    for (let time = 0; time < 10; time += 1) {
      const file = await files.upload(ownProject, randomBytes(500_000));
      assert.equal((await files.bytesOf(file.file_id))[0], 200);
      await api.delete(`/files/${file.file_id}/`);
      assert.equal((await api.run(workflow, {})).status, 201);
    }
    assert.deepEqual(ended, [], 'the other tenant has waited for none of them');
    const statuses = await Promise.all(stalled.map(({ status }) => status));
    const took = (performance.now() - begun) / 1000;
    assert.ok(took > 55 && took < 200, `${took} s`);
    assert.deepEqual([...new Set(statuses)], [408]);
    await eventually(async () => (await stored()) === before);
  });

  it('breaks off 100 uploads: nothing is left', async () => {
    const before = await stored();
    const cut = Array.from({ length: 100 }, () => stall());
    await eventually(async () => (await stored()) === before + cut.length);
    for (const { request } of cut) request.destroy();
    await eventually(async () => (await stored()) === before);
  });

  it('sends the ids of foreign files everywhere: their contents and facts are not disclosed', async () => {
    const theirs = await createFileClient(stack).upload(ownProject, 'a secret of others');
    const start = trigger([{ id: 'doc', type: 'file' }]);
    const ask = node('human', {
      message: 'Which?',
      fields: [
        { id: 'doc', type: 'file' },
        { id: 'docs', type: 'files' },
      ],
    });
    const workflow = await hostile.api.createWorkflow(projectId, drawing(linkInRow([start, ask])));
    for (const doc of [theirs, theirs.file_id]) {
      assert.equal((await hostile.api.run(workflow, { doc })).status, 422);
      const schedule = { cron: '0 0 1 1 *', input: { doc } };
      assert.equal((await hostile.api.post(`/workflows/${workflow}/schedules/`, { body: schedule })).status, 400);
    }
    const { data } = await hostile.api.run(workflow, {});
    const task = await taskOf(hostile.api, data.id, ask.id);
    for (const values of [{ doc: theirs }, { doc: theirs.file_id }, { docs: [theirs] }]) {
      const body = { action: 'done', values };
      assert.equal((await hostile.api.post(`/human-tasks/${task}/answer/`, { body })).status, 400);
    }
    for (const [method, at] of [
      ['get', ''],
      ['get', 'content/'],
      ['post', 'link/'],
      ['delete', ''],
    ] as const)
      assert.equal((await hostile.api[method](`/files/${theirs.file_id}/${at}`)).status, 404, `${method} ${at}`);
    const usedBy = await api.get<{ used_by: Record<string, number> }>(`/files/${theirs.file_id}/`);
    assert.deepEqual(
      Object.values(usedBy.body.used_by).filter((count) => count > 0),
      [],
      'nobody else can keep a file alive',
    );
    await giveRole(stack, hostile, ownProject, 'viewer');
    assert.equal((await hostile.api.delete(`/files/${theirs.file_id}/`)).status, 403);
  });
});
