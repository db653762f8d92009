// How polls and human tasks show files. Deleted files are marked.
import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { drawing, linkInRow, node, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { sharedStack } from '../support/shared-stack.js';
import { createFileClient, type FileValue } from '../support/upload.js';
import { taskOf } from '../support/waiting.js';

type Shown = FileValue & { deleted?: boolean };

describe('files as readers of runs see them', function () {
  this.timeout(120_000);
  let api: ApiClient;
  let files: ReturnType<typeof createFileClient>;
  let projectId: number;

  before(async () => {
    const stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    files = createFileClient(stack);
    projectId = await api.createProject();
  });

  const fields = [
    { id: 'doc', type: 'file' },
    { id: 'more', type: 'files' },
    { id: 'pad', type: 'text' },
  ];
  const poll = (run: string, tag = '') =>
    api.get(`/workflows/workflow_result/?id=${run}`, { headers: { 'if-none-match': tag } });

  async function start(nodes: DrawingNode[], input: unknown): Promise<{ workflow: number; run: string }> {
    const workflow = await api.createWorkflow(projectId, drawing(linkInRow(nodes)));
    const started = await api.run(workflow, input);
    assert.equal(started.status, 201, JSON.stringify(started));
    return { workflow, run: started.data.id };
  }

  it('every entry whose value is a deleted file says so, in results of any size', async () => {
    const doc = await files.upload(projectId, 'gone', 'gone.txt');
    const other = await files.upload(projectId, 'here', 'here.txt');
    const begin = trigger(fields);
    const large = node('set', {
      value: { before: '{{ input.pad }}', doc: '{{ input.doc }}', after: '{{ input.pad }}' },
    });
    const out = node('output', { value: ['{{ input.doc }}', '{{ input.more }}'] });
    // With one of these paddings, the value of the file lies across the border of two pieces.
    for (const pad of ['', 'x'.repeat(700_000), 'x'.repeat(512 * 1024 - 60)]) {
      const file = pad === '' ? doc : await files.upload(projectId, `gone ${pad.length}`, 'gone.txt');
      const { workflow, run } = await start([begin, large, out], { doc: file, more: [other], pad });
      const before = (await api.pollToEnd(run)).data;
      assert.equal(before.status, 'succeed', JSON.stringify(before.data).slice(0, 2_000));
      assert.deepEqual(before.output, [file, [other]]);
      const tag = (await poll(run)).headers.get('etag')!;
      assert.equal((await poll(run, tag)).status, 304);
      assert.equal((await api.delete(`/files/${file.file_id}/`)).status, 204);
      assert.equal((await poll(run, tag)).status, 200, 'who polls with the old tag is told');
      const gone: Shown = { ...file, deleted: true };
      const { data } = await api.poll(run);
      assert.deepEqual(data.output, [gone, [other]]);
      const valueOf = (result: unknown) => (result as { value: { doc: Shown } }).value.doc;
      assert.deepEqual(valueOf(data.data![large.id]!.result), gone);
      const content = JSON.parse(data.data![begin.id]!.result!.content) as { doc: Shown };
      assert.deepEqual(content.doc, gone, 'also where JSON is the text of a content');
      const detail = await api.get<{ result: unknown }>(`/workflows/${workflow}/history/${run}/nodes/${large.id}/`);
      assert.deepEqual(valueOf(detail.body.result), gone);
      const history = await api.history(workflow, run);
      assert.deepEqual(valueOf((history['result'] as Record<string, { result: unknown }>)[large.id]!.result), gone);
    }
  });

  it('a human task shows the files that its node names, and its answer has those that were brought', async () => {
    const doc = await files.upload(projectId, 'invoice', 'invoice.txt');
    const more = await files.upload(projectId, 'photo', 'photo.txt');
    const brought = await files.upload(projectId, 'signed', 'signed.txt');
    const ask = node('human', {
      message: 'Well?',
      files: ['{{ input.doc }}', '{{ input.more }}', { file_id: more.file_id }, '{{ input.none }}'],
      fields: [{ id: 'signed', type: 'file', input_requirements: true }],
    });
    const { run } = await start([trigger(fields), ask], { doc, more: [more] });
    const task = await taskOf(api, run, ask.id);
    const shown = (await api.get<{ files: Shown[] }>(`/human-tasks/${task}/`)).body.files;
    assert.deepEqual(shown, [doc, more, more]);
    const answer = (signed: unknown) =>
      api.post(`/human-tasks/${task}/answer/`, { body: { action: 'done', values: { signed }, comment: '' } });
    const foreign = await files.upload(await api.createProject(), 'theirs');
    assert.equal((await answer(foreign)).status, 400);
    assert.equal((await answer(brought.file_id)).status, 200);
    const { data } = await api.pollToEnd(run);
    assert.deepEqual((data.data![ask.id]!.result as unknown as { values: object }).values, { signed: brought });
    assert.equal((await api.delete(`/files/${doc.file_id}/`)).status, 204);
    const later = await api.get<{ files: Shown[] }>(`/human-tasks/${task}/`);
    assert.deepEqual(later.body.files, [{ ...doc, deleted: true }, more, more]);
  });

  it('asks nobody about a file that is not there, or about more than a task shows', async () => {
    const ask = (shown: unknown) => node('human', { message: 'Well?', files: shown });
    for (const [shown, code] of [
      ['{{ input.pad }}', 'file_missing'],
      [['{{ input.more }}', '{{ input.more }}'], 'too_many_files'],
    ] as const) {
      const one = await files.upload(projectId, 'one');
      const person = ask(shown);
      const { run } = await start([trigger(fields), person], {
        pad: 'text',
        more: Array.from({ length: 51 }, () => one),
      });
      const { data } = await api.pollToEnd(run);
      assert.equal(data.data![person.id]!.error?.code, code, JSON.stringify(data.data));
    }
    const literal = await api.createWorkflow(
      projectId,
      drawing(linkInRow([trigger(), ask([{ file_id: '00000000-0000-4000-8000-000000000000' }])])),
    );
    assert.equal((await api.run(literal)).status, 422);
  });
});
