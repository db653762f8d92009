import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readChildOutput, type ReadingDeps } from '../../../../activities/kinds/child-run.js';
import type { NodeTask } from '../../../../activities/node/node-step.js';
import type { ApiClient } from '../../../../harness/client/api-client.js';
import { eventually } from '../../../../harness/timing/eventually.js';
import { createGate } from '../../../../harness/timing/gate.js';
import { drawing, http, linkInRow, node, trigger } from '../../../../harness/drawing/drawing.js';
import type { HttpTarget } from '../../../../harness/target/http-target.js';
import { queryDatabase } from '../../../support/inspect.js';
import type { TestStack } from '../../../../harness/stack/stack.js';
import { callBack, callbackUrlOf } from '../../../support/waiting.js';
import { connect } from '../../../db/open-run.js';
import { openResumeWorld, type ResumeWorld } from './resume-world.js';

describe('reused results', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;
  let world: ResumeWorld;

  before(async () => {
    world = await openResumeWorld();
    ({ stack, api, target } = world);
  });
  after(() => world.close());

  it('of a wait accept no callback any more, although its address can be read', async () => {
    const path = `/${randomUUID()}`;
    const { opened, open } = createGate();
    target.on(path, [{ status: 418 }, { until: opened }]);
    const pause = node('wait', { mode: 'callback' });
    const tells = http(`${target.url}${path}`, { method: 'POST', body: `{{ ${pause.id}.callback_url }}` });
    const workflowId = await world.workflowOf(drawing(linkInRow([trigger(), pause, tells])));
    const { data } = await api.run(workflowId);
    await callBack(await callbackUrlOf(api, data.id, pause.id), 'called');
    await api.pollToEnd(data.id);
    const { body } = await world.resume({ workflowId, runId: data.id });
    const [, told] = await eventually(() => target.requestsTo(path).length === 2 && target.requestsTo(path));
    assert.equal((await callBack(told!.body)).status, 410);
    assert.equal((await api.poll(body.data.id)).data.status, 'in progress');
    open();
    const end = await api.pollToEnd(body.data.id);
    assert.equal(end.data.status, 'succeed');
    assert.equal(end.data.data![pause.id]!.result!.content, 'called');
  });

  it('stay when those of the earlier run expire', async () => {
    const path = `/${randomUUID()}`;
    target.on(path, [{ status: 418 }, { body: 'ok' }]);
    const says = node('set', { value: 'kept' });
    const failed = await world.runRow([says, http(`${target.url}${path}`)]);
    const resumed = await world.resumeToEnd(failed);
    const expire = `UPDATE runs SET results_expired_at = now(), is_purge_pending = true WHERE id = $1`;
    await queryDatabase(stack, expire, [failed.runId]);
    const { data } = (await api.poll(resumed.runId)).data;
    assert.equal(data![says.id]!.result!.content, 'kept');
    assert.equal((await api.poll(failed.runId)).data.status, 'not found');
  });

  it('of a child run that have expired fail the node', async () => {
    const done = await world.runRow([node('set', { value: 'gone' })]);
    await queryDatabase(stack, `UPDATE runs SET results_expired_at = now() WHERE id = $1`, [done.runId]);
    const db = await connect();
    const memory = { bytes: 0, resize: () => Promise.resolve() };
    const ended = { runId: done.runId, status: 'Succeeded' as const, errorCode: null, errorMessage: null };
    const read = readChildOutput({ db } as ReadingDeps, { runId: randomUUID(), memory } as unknown as NodeTask, ended);
    await assert.rejects(read, { code: 'child_failed', message: /have expired/ });
    await db.destroy();
  });
});
