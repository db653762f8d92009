import assert from 'node:assert/strict';
import { createFrameBatch, createLimit } from '../../../console/service/pace.js';
import {
  failedChild,
  lineOfError,
  readResult,
  rootOfContent,
} from '../../../console/parts/node-result/result-parts.js';
import { withoutLinks } from '../../../console/drawing/run-links.js';
import { iterationNumber } from '../../../console/parts/run/node-choice.js';
import { refusalsOf } from '../../../console/parts/run-input/refusals.js';
import { ExactNumber } from '../../../graph/exact-number.js';
import { parseStructure } from '../../../console/ui/json.js';
import { runWord, toStoredStatus } from '../../../console/live/run-word.js';
import { roundDecimal, sumAmounts, sumDecimals } from '../../../console/ui/decimals.js';
import { formatBytes } from '../../../console/ui/format.js';
import { linesAround, partOf, SHOWN_BYTES } from '../../../console/ui/part-of.js';

describe('the parts of the run page', () => {
  it('show at most 64 KiB of a text, and never half a character', () => {
    assert.deepEqual(partOf('short'), { text: 'short', isWhole: true });
    const exact = 'x'.repeat(SHOWN_BYTES);
    assert.deepEqual(partOf(exact), { text: exact, isWhole: true });
    assert.equal(partOf(`${exact}y`).text, exact);
    const wide = partOf('😀'.repeat(SHOWN_BYTES));
    assert.equal(wide.isWhole, false);
    assert.equal(wide.text, '😀'.repeat(SHOWN_BYTES / 4));
    assert.equal(partOf('a😀', 4).text, 'a');
    assert.deepEqual([87, 12 * 1024, 1.5 * 2 ** 20, 10 * 2 ** 30].map(formatBytes), [
      '87 bytes',
      '12 KiB',
      '1.5 MiB',
      '10.0 GiB',
    ]);
  });

  it('add decimal strings up exactly, by currency', () => {
    assert.deepEqual(sumAmounts([{ USD: '0.1' }, { USD: '0.2', EUR: '1' }, { USD: '0.00000000000000000001' }]), {
      USD: '0.30000000000000000001',
      EUR: '1',
    });
    assert.equal(sumDecimals(['-0.5', '0.25']), '-0.25');
    assert.equal(sumDecimals(['1', '-1.000']), '0');
    assert.equal(sumDecimals(['9007199254740993', '0.5']), '9007199254740993.5');
  });

  it('round amounts to two decimals, small ones to their first two digits', () => {
    const rounded = {
      '0.00005505': '0.000055',
      '0.00000996': '0.00001',
      '0.0155': '0.016',
      '12.5': '12.5',
      '12.345': '12.35',
      '999.999': '1000',
      '-0.1249': '-0.12',
      '0': '0',
      '12.50': '12.5',
      '0.30000000000000000001': '0.3',
      many: 'many',
    };
    for (const [exact, shown] of Object.entries(rounded)) assert.equal(roundDecimal(exact), shown, exact);
  });

  it('number iterations from the outside in, whatever the ids of loops are', () => {
    assert.equal(iterationNumber('pages[12]'), '[12]');
    assert.equal(iterationNumber('pages[12]/rows[0]'), '[12] [0]');
    assert.equal(iterationNumber('a[1]b[3]/x[2]'), '[3] [2]');
  });

  it('show what a node was given without its names and without where it leads', () => {
    const given = {
      id: 'n1',
      name: 'http',
      label: 'Call',
      version: '1.0.0',
      next_nodes: ['n2'],
      true_node: 'n3',
      error_node: null,
      url: 'https://example.com',
      cases: [{ id: 'a', left: 1, node: 'n4' }, 'odd'],
      body: { label: 'stays', node: 'stays' },
    };
    assert.deepEqual(withoutLinks(given), {
      url: 'https://example.com',
      cases: [{ id: 'a', left: 1 }, 'odd'],
      body: { label: 'stays', node: 'stays' },
    });
  });

  it('know the words of run statuses in both directions', () => {
    const word = (status: Parameters<typeof runWord>[0]['status'], live?: string) =>
      runWord({ status, run_started_at: null }, live);
    assert.deepEqual(
      [word('Succeeded'), word('Error'), word('Cancelled'), word('Draft'), word('In Progress')],
      ['succeeded', 'failed', 'cancelled', 'not run', 'in queue'],
    );
    assert.equal(word('In Progress', 'waiting'), 'waiting');
    assert.equal(word('Cancelled', 'failed'), 'cancelled');
    assert.deepEqual(['failed', 'Error', 'In Progress', 'waiting', 'nonsense'].map(toStoredStatus), [
      'Error',
      'Error',
      'In Progress',
      'In Progress',
      undefined,
    ]);
  });

  it('name the field that holds the JSON of a content whose keys are names of fields of the result, too', () => {
    const rootOf = (result: object, structure: unknown) => rootOfContent('n.result', result, structure);
    const child = { content: '{"status":"open"}', output: { status: 'open' }, run_id: 'a', status: 'succeed' };
    assert.equal(rootOf(child, { status: 'open' }), 'n.result.output');
    const answer = { content: '{"headers":1}', json: { headers: 1 }, headers: {}, status_code: 200 };
    assert.equal(rootOf(answer, { headers: 1 }), 'n.result.json');
    assert.equal(rootOf({ ...answer, json: { other: 1 } }, { other: 1 }), 'n.result');
    assert.equal(rootOf({ content: '{"content":1}' }, { content: 1 }), 'n.result', 'there is no such field');
  });

  it('read results without knowing kinds: the answers of models, and the rest without the steps of agents', () => {
    const usage = { total_tokens: 3 };
    const calls = [{ server_label: 'sums', tool_name: 'add', outcome: 'result' }];
    const agent = readResult({
      content: '5',
      usage,
      steps: [
        { iteration: 1, tool_calls: calls },
        { iteration: 2, tool_calls: [] },
      ],
    });
    assert.equal(agent.isAnswer, true);
    assert.deepEqual(agent.rest, { usage });
    const http = readResult({ content: '{}', status_code: 200, steps: [1] });
    assert.deepEqual([http.isAnswer, http.rest], [false, { status_code: 200, steps: [1] }]);
    const nothing = { content: undefined, isAnswer: false, childRun: undefined, rest: {} };
    assert.deepEqual(readResult(null), nothing);
    const runId = '0b5f8f6e-4a5e-4c53-9d8e-0f6a3a1f2b3c';
    assert.equal(readResult({ content: '', output: 1, run_id: runId, status: 'succeed' }).childRun, runId);
    const others = [{ run_id: runId }, { output: 1, run_id: 'x', status: 'succeed' }];
    for (const other of others) assert.equal(readResult({ content: '', ...other }).childRun, undefined);
  });

  it('find the line and the run that an error names, and nothing in errors of other codes', () => {
    const message = 'x is not defined (line 12)';
    assert.equal(lineOfError({ code: 'code_error', message }), 12);
    assert.equal(lineOfError({ code: 'http_status', message }), undefined);
    assert.equal(lineOfError({ code: 'code_error', message: 'it said (line 3) somewhere' }), undefined);
    const runId = '0b5f8f6e-4a5e-4c53-9d8e-0f6a3a1f2b3c';
    const failed = `The run ${runId} of the sub-workflow failed: http_status: 404`;
    assert.equal(failedChild({ code: 'child_failed', message: failed }), runId);
    assert.equal(failedChild({ code: 'code_error', message: failed }), undefined);
    const refused = `The sub-workflow cannot run: node ${runId}, url: Field required.`;
    assert.equal(failedChild({ code: 'child_failed', message: refused }), undefined);
  });

  it('show long code around its marked line', () => {
    const code = Array.from({ length: 1_000 }, (_, index) => `line ${index + 1}`).join('\n');
    const around = (line?: number) => {
      const { lines, first, total } = linesAround(code, line);
      return [first, lines[0], lines.at(-1), total];
    };
    assert.deepEqual(around(), [1, 'line 1', 'line 201', 1_000]);
    assert.deepEqual(around(500), [400, 'line 400', 'line 600', 1_000]);
    assert.deepEqual(around(1_000), [800, 'line 800', 'line 1000', 1_000]);
    assert.deepEqual(around(5_000), [800, 'line 800', 'line 1000', 1_000]);
    assert.deepEqual(linesAround('a\r\nb', 2), { lines: ['a', 'b'], first: 1, total: 2 });
  });

  it('take objects and arrays for JSON, nothing else, and keep the digits of numbers where the runtime tells them', () => {
    assert.equal(parseStructure('12'), undefined);
    assert.equal(parseStructure('{broken'), undefined);
    assert.equal(parseStructure('"text"'), undefined);
    assert.deepEqual(parseStructure(' [1, {"a": "b"}]'), [1, { a: 'b' }]);
    const [big] = parseStructure('[12345678901234567890]') as unknown[];
    const readSource = (_key: string, value: unknown, context?: { source?: string }) => context?.source ?? value;
    const isSourceTold = JSON.parse('1', readSource) === '1';
    assert.equal(big instanceof ExactNumber, isSourceTold);
    assert.equal(String(big), isSourceTold ? '12345678901234567890' : '12345678901234567000');
  });

  it('say field by field why a run was refused', () => {
    const body = { data: { data: { a: { id: 'a', result: [{ url: 'Enter a URL.' }, { method: 'Choose one.' }] } } } };
    const labels = new Map([['a', 'Call']]);
    assert.deepEqual(refusalsOf(body, labels), ['Call, url: Enter a URL.', 'Call, method: Choose one.']);
    assert.deepEqual(refusalsOf({ detail: 'x', code: 'y' }, labels), []);
  });

  it('pass on the items of a burst once a frame, and lose none', () => {
    const frames: (() => void)[] = [];
    const taken: number[][] = [];
    const batch = createFrameBatch<number>(
      (items) => taken.push(items),
      (act) => frames.push(act),
    );
    for (let index = 0; index < 600; index += 1) batch.add(index);
    assert.equal(frames.length, 1);
    frames.shift()!();
    batch.add(600);
    batch.flush();
    frames.shift()!();
    assert.deepEqual(
      taken.map(({ length }) => length),
      [600, 1],
    );
  });

  it('make a limited number of calls at a time, and go on after a call that failed or was aborted', async () => {
    const limit = createLimit(2);
    let [running, most] = [0, 0];
    const call = async (fails: boolean): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running -= 1;
      if (fails) throw new Error('failed');
    };
    const { signal } = new AbortController();
    const calls = Array.from({ length: 9 }, (_, index) => limit(() => call(index % 3 === 0), signal));
    const outcomes = await Promise.allSettled([...calls, limit(() => call(false), AbortSignal.abort())]);
    assert.equal(most, 2);
    assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 4);
  });
});
