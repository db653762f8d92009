import assert from 'node:assert/strict';
import { createApiClient, type ApiClient, type Envelope } from '../../harness/client/api-client.js';
import { condition, drawing, http, link, llm, trigger, type Drawing } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { sharedStack } from '../support/shared-stack.js';
import { queryDatabase } from '../support/inspect.js';
import type { TestStack } from '../../harness/stack/stack.js';

const RUNS = 50;
const POLLS = 500;

describe('consistency of polls', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    target = await startHttpTarget();
  });

  after(() => target.close());

  function draw(): { data: Drawing; expected: string[] } {
    const start = trigger();
    const [left, right] = [http(`${target.url}/hold/left`), http(`${target.url}/right`)];
    const check = condition('1', '==', '1');
    const end = llm('the end');
    link(start, [left, right]);
    link(left, check);
    link(check, end, 'true');
    link(right, end);
    return {
      data: drawing([start, left, right, check, end]),
      expected: [start, left, right, check, end].map(({ id }) => id),
    };
  }

  it(`shows no terminal answer without its complete data in ${POLLS} polls over ${RUNS} runs`, async () => {
    const { data, expected } = draw();
    const workflow = await api.createWorkflow(await api.createProject(), data);
    const runIds: string[] = [];
    for (let index = 0; index < RUNS; index++) runIds.push((await api.run(workflow)).data.id);
    const check = ({ data: { status, data: nodes } }: Envelope): boolean => {
      assert.notEqual(status, 'failed', JSON.stringify(nodes));
      if (status !== 'succeed') return false;
      assert.deepEqual(Object.keys(nodes!).toSorted(), expected.toSorted());
      for (const node of Object.values(nodes!)) {
        assert.equal(node.status, 'succeed');
        assert.equal(typeof node.result!.content, 'string');
      }
      return true;
    };
    for (const runId of runIds) assert.equal(check(await api.poll(runId)), false, 'the run is held');
    target.release('/hold/left');
    const ended = new Set<string>();
    for (let poll = 0; poll < POLLS || ended.size < RUNS; poll++) {
      const runId = runIds[poll % RUNS]!;
      const isEnded = check(await api.poll(runId));
      assert.ok(isEnded || !ended.has(runId), 'an ended run stays ended');
      if (isEnded) ended.add(runId);
    }
    const [sums] = await queryDatabase<{ runs: string; paid: string; spent: string }>(
      stack,
      `SELECT (SELECT sum(cost_usd) FROM runs WHERE workflow_id = $1) AS runs,
         (SELECT sum(amount_usd) FROM billing_transactions JOIN runs ON runs.id = run_id WHERE workflow_id = $1) AS paid,
         (SELECT total_spent_usd FROM projects JOIN workflows ON project_id = projects.id WHERE workflows.id = $1) AS spent`,
      [workflow],
    );
    assert.deepEqual(sums, { runs: '0.00100', paid: '0.00100', spent: '0.00100' });
  });
});
