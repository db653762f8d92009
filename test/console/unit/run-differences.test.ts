import assert from 'node:assert/strict';
import {
  compareDrawings,
  compareRuns,
  jsonDifferences,
  type ComparedRun,
} from '../../../console/parts/differences/run-differences.js';

const at = (ms: number): string => new Date(Date.UTC(2026, 0, 31) + ms).toISOString();
const drawing = (message: string, x = 0) => ({
  start_node: 'start',
  viewport: { x, y: 0, zoom: 1 },
  nodes: [
    { id: 'start', type: 'trigger-node', position: { x, y: 0 }, data: { label: 'Start' } },
    { id: 'greet', type: 'basic-node', position: { x: 9, y: x }, selected: x > 0, data: { label: 'Greet', message } },
  ],
  edges: [],
});
const run = (change: Partial<ComparedRun> = {}): ComparedRun => ({
  status: 'Succeeded',
  run_started_at: at(0),
  duration: 1.5,
  cost: { USD: '0.00002' },
  error: null,
  workflow_version: 1,
  input_data: { name: 'Ada' },
  data: drawing('Hello'),
  result: {
    greet: { id: 'greet', status: 'succeed', started_at: at(0), finished_at: at(900), result: { content: 'Hi' } },
  },
  ...change,
});

describe('the differences of two JSON values', () => {
  it('are the innermost places that differ, and nothing else', () => {
    const left = { a: 1, b: { c: [1, 2, { d: null }] }, same: [1], 'odd key': 1 };
    const right = { same: [1], b: { c: [1, 3, { d: false }, 4] }, a: 1 };
    assert.deepEqual(jsonDifferences(left, right), [
      { path: 'b.c[1]', left: 2, right: 3 },
      { path: 'b.c[2].d', left: null, right: false },
      { path: 'b.c[3]', left: undefined, right: 4 },
      { path: '["odd key"]', left: 1, right: undefined },
    ]);
  });

  it('take a value of another form whole, and any key as it is', () => {
    assert.deepEqual(jsonDifferences([1], { 0: 1 }), [{ path: '', left: [1], right: { 0: 1 } }]);
    assert.deepEqual(jsonDifferences(undefined, undefined), []);
    assert.deepEqual(jsonDifferences(JSON.parse('{"__proto__": 1}'), {}), [
      { path: '__proto__', left: 1, right: undefined },
    ]);
  });
});

describe('the differences of two runs', () => {
  it('are none where nothing that matters differs: positions and a few milliseconds do not', () => {
    const other = run({ data: drawing('Hello', 500) });
    other.result['greet']!.finished_at = at(950);
    const found = compareRuns(run(), other);
    assert.deepEqual(found, { input: [], definition: [], outcome: [], cost: [], time: [], nodes: [] });
  });

  it('leave out notes and the remarks of an import, which no run reads', () => {
    const noted = {
      ...drawing('Hello'),
      notes: [{ id: 'n', text: 'Ask Ada', position: { x: 0, y: 0 }, width: 240, height: 110 }],
      remarks: [{ id: 'remark-1', node_id: 'greet', message: 'Choose a model.' }],
    };
    assert.deepEqual(compareDrawings(drawing('Hello'), noted), []);
    assert.deepEqual(compareDrawings(noted, { ...noted, notes: [], max_run_cost: '1' }), [
      { path: 'max_run_cost', left: undefined, right: '1' },
    ]);
  });

  it('tell nodes of one label apart, also where their ids begin alike', () => {
    const twins = (message: string, ids: [string, string]) => ({
      nodes: ids.map((id, place) => ({
        id,
        type: 'basic-node',
        data: { label: 'Say', message: place === 0 ? message : 'b' },
      })),
      edges: [],
    });
    const changed = (...ids: [string, string]) =>
      compareDrawings(twins('a', ids), twins('changed', ids)).map(({ path }) => path);
    assert.deepEqual(changed('basic-node-1', 'basic-node-2'), ['nodes["Say basic-node-1"].data.message']);
    assert.deepEqual(changed('11111111-1', '22222222-2'), ['nodes["Say 11111111"].data.message']);
  });

  it('tell input, cost, time, outcome and definition apart', () => {
    const found = compareRuns(
      run(),
      run({
        status: 'Error',
        error: { code: 'http_status', message: '503' },
        cost: { USD: '0.00004' },
        duration: 2,
        workflow_version: 2,
        input_data: { name: 'Grace' },
        data: drawing('Hello again'),
      }),
    );
    assert.deepEqual(found.input, [{ path: 'name', left: 'Ada', right: 'Grace' }]);
    assert.deepEqual(found.cost, [{ path: 'USD', left: '0.00002', right: '0.00004' }]);
    assert.deepEqual(found.time, [{ path: 'duration', left: 1.5, right: 2 }]);
    assert.deepEqual(found.outcome[0], { path: 'status', left: 'succeeded', right: 'failed' });
    assert.deepEqual(found.definition, [
      { path: 'version', left: 1, right: 2 },
      { path: 'nodes.Greet.data.message', left: 'Hello', right: 'Hello again' },
    ]);
  });

  it('go node by node: results that are JSON by what they say, nodes that one run did not reach, times that stand out', () => {
    const entry = (content: string, ms: number) => ({
      greet: { id: 'greet', status: 'succeed' as const, started_at: at(0), finished_at: at(ms), result: { content } },
    });
    const found = compareRuns(
      run({ result: entry('{"a":1,"b":2}', 300) }),
      run({ result: entry('{"b":2,"a":5}', 900) }),
    );
    assert.deepEqual(found.nodes, [
      {
        id: 'greet',
        label: 'Greet',
        differences: [
          { path: 'result.content.a', left: 1, right: 5 },
          { path: 'duration', left: 0.3, right: 0.9 },
        ],
      },
    ]);
    const [unreached] = compareRuns(run(), run({ result: {} })).nodes;
    assert.deepEqual(unreached?.differences[0], { path: 'status', left: 'succeeded', right: 'not run' });
  });
});
