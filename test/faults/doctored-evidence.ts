// Evidence of a row of the fault matrix that the service survived. Tests falsify parts of it.
import type {
  Evidence,
  ExpectedNode,
  HitRecord,
  Poll,
  RunEvidence,
  StoredChild,
  StoredNode,
  StoredRun,
} from '../../faults/evidence.js';

export const HIT: HitRecord = {
  what: 'kill -9 of the worker',
  from: 1_000,
  until: 2_000,
  cuts: 'calls',
  apiDown: false,
  finished: [
    { runId: 'run-1', nodeId: 'start', step: null },
    { runId: 'run-1', nodeId: 'get', step: null },
    { runId: 'run-1', nodeId: 'agent', step: 'turn 0' },
  ],
  calls: { '/get': 1, 'model #0': 1, '/post': 1 },
};

const NODES: ExpectedNode[] = [
  { id: 'start', label: 'start', kind: 'trigger', amountUsd: '0', calls: [], marker: 'tag' },
  { id: 'get', label: 'get', kind: 'http', amountUsd: '0', calls: [{ key: '/get', mayRepeat: true }], marker: 'tag' },
  {
    id: 'post',
    label: 'post',
    kind: 'http',
    amountUsd: '0',
    calls: [{ key: '/post', mayRepeat: false }],
    marker: 'tag',
  },
  {
    id: 'agent',
    label: 'agent',
    kind: 'agent',
    amountUsd: '0.00004',
    marker: 'tag',
    calls: [
      { key: 'model #0', mayRepeat: true, step: 'turn 0' },
      { key: 'tool', mayRepeat: false, step: 'tools 0' },
      { key: 'model #1', mayRepeat: true, step: 'turn 1' },
    ],
  },
];

/** Nodes in a loop body and in a child run: executed and paid, but not shown in the poll of the run. */
const BELOW: ExpectedNode[] = [
  { id: 'each', label: 'each', kind: 'for_each', amountUsd: '0', calls: [], marker: 'tag', iterations: 2 },
  ...['each[0]', 'each[1]'].map((path): ExpectedNode => {
    const calls = [{ key: `/${path}`, mayRepeat: true }];
    return { id: 'inner', path, label: 'inner', kind: 'http', amountUsd: '0', calls, marker: 'tag' };
  }),
  {
    id: 'person',
    label: 'person',
    kind: 'human',
    amountUsd: '0',
    calls: [],
    marker: 'tag',
    answerOf: ({ comment }) => comment,
  },
  {
    id: 'sub',
    label: 'sub',
    kind: 'workflow',
    amountUsd: '0',
    calls: [],
    marker: 'tag',
    child: [{ id: 'own', label: 'own', kind: 'llm', amountUsd: '0.00002', calls: [], marker: 'tag' }],
  },
];
const ALL = [...NODES, ...BELOW];
const SHOWN = ALL.filter(({ path }) => path === undefined);

function toRow({ id, path = '' }: ExpectedNode): StoredNode {
  const result = JSON.stringify({ content: `tag ${id}` });
  return { path, nodeId: id, status: 'succeed', errorCode: null, finishedAt: 8_000, result };
}

function toTransaction({ id, path = '', kind, amountUsd }: ExpectedNode): StoredRun['transactions'][number] {
  return { path, nodeId: id, operation: kind, status: 'Succeeded', amountUsd };
}

export function toChild(): StoredChild {
  const own = BELOW.at(-1)!.child!;
  return {
    runId: 'run-2',
    parentPath: '',
    parentNodeId: 'sub',
    status: 'Succeeded',
    errorCode: null,
    costUsd: '0.00002',
    shownCostUsd: '0.00002',
    nodes: own.map(toRow),
    iterations: [],
    transactions: own.map(toTransaction),
    claims: [],
  };
}

/** A run that survived one death of the worker: a model call was repeated. */
export function survivor(): { evidence: Evidence; run: RunEvidence; poll: Poll } {
  const result = (id: string) => ({ content: `tag ${id}`, ...(id === 'person' && { comment: 'second' }) });
  const entries = SHOWN.map(({ id }) => [id, { id, status: 'succeed', result: result(id) }] as const);
  const poll: Poll = { at: 9_000, status: 'succeed', nodes: Object.fromEntries(entries) };
  const run: RunEvidence = {
    tag: 'tag',
    shape: 'doctored',
    ending: 'succeed',
    expected: ALL,
    runId: 'run-1',
    statuses: ['in queue', 'in progress', 'succeed'],
    firstTerminal: poll,
    later: [structuredClone(poll)],
    failures: [],
    answers: [
      { nodeId: 'person', text: 'first', outcome: 'lost' },
      { nodeId: 'person', text: 'second', outcome: 'accepted' },
      { nodeId: 'person', text: 'third', outcome: 'refused' },
    ],
    children: [toChild()],
    stored: {
      status: 'Succeeded',
      errorCode: null,
      costUsd: '0.00004',
      shownCostUsd: '0.00004',
      nodes: ALL.map(toRow),
      iterations: [0, 1].map((index) => ({ path: `each[${index}]`, nodeId: 'each', status: 'succeed' })),
      transactions: ALL.map(toTransaction),
      claims: [{ nodeId: 'post', sentAt: 900 }],
    },
  };
  const calls = { '/get': 1, '/post': 1, 'model #0': 1, tool: 1, 'model #1': 2, '/each[0]': 1, '/each[1]': 1 };
  const project = { runs: 1, spentBeforeUsd: '0', spentAfterUsd: '0.00006' };
  return { evidence: { runs: [run], hits: [HIT], calls, project, complaints: [] }, run, poll };
}

/** The POST was in flight when the worker died. */
export function unknownOutcome(): ReturnType<typeof survivor> {
  const given = survivor();
  const { run, poll, evidence } = given;
  const error = { code: 'outcome_unknown', message: 'unknown' };
  poll.status = 'failed';
  poll.nodes = { start: poll.nodes['start']!, post: { id: 'post', status: 'failed', error } };
  run.later = [structuredClone(poll)];
  run.statuses = ['in progress', 'failed'];
  run.answers = [];
  run.children = [];
  run.stored!.iterations = [];
  Object.assign(run.stored!, { status: 'Error', errorCode: 'outcome_unknown', costUsd: '0', shownCostUsd: '0' });
  run.stored!.nodes = [
    { nodeId: 'start', status: 'succeed', errorCode: null, finishedAt: 800 },
    { nodeId: 'post', status: 'failed', errorCode: 'outcome_unknown', finishedAt: 8_000 },
  ];
  run.stored!.transactions = [
    { nodeId: 'start', operation: 'trigger', status: 'Succeeded', amountUsd: '0' },
    { nodeId: 'post', operation: 'http', status: 'Error', amountUsd: '0' },
  ];
  evidence.hits = [{ ...HIT, finished: [{ runId: 'run-1', nodeId: 'start', step: null }] }];
  evidence.calls = { '/post': 1 };
  evidence.project.spentAfterUsd = '0';
  return given;
}

export function drop(rows: { path?: string }[], path: string): void {
  rows.splice(
    rows.findIndex((row) => row.path === path),
    1,
  );
}

export function addIteration({ stored }: RunEvidence): void {
  const path = 'each[2]';
  stored!.nodes.push({ ...toRow(BELOW[1]!), path });
  stored!.transactions.push({ ...toTransaction(BELOW[1]!), path });
}
