import assert from 'node:assert/strict';
import type { Evidence, ExpectedNode, Hit, Poll, RunEvidence } from '../../faults/evidence.js';
import { checkEvidence } from '../../faults/invariants.js';
import { INVARIANTS, type Invariant } from '../../faults/report.js';

const HIT: Hit = {
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

/** A run that survived one death of the worker: a model call was repeated. */
function survivor(): { evidence: Evidence; run: RunEvidence; poll: Poll } {
  const entries = NODES.map(({ id }) => [id, { id, status: 'succeed', result: { content: `tag ${id}` } }] as const);
  const poll: Poll = { at: 9_000, status: 'succeed', nodes: Object.fromEntries(entries) };
  const run: RunEvidence = {
    tag: 'tag',
    shape: 'doctored',
    ending: 'succeed',
    expected: NODES,
    runId: 'run-1',
    statuses: ['in queue', 'in progress', 'succeed'],
    firstTerminal: poll,
    later: [structuredClone(poll)],
    failures: [],
    stored: {
      status: 'Succeeded',
      errorCode: null,
      costUsd: '0.00004',
      shownCostUsd: '0.00004',
      nodes: NODES.map(({ id }) => ({ nodeId: id, status: 'succeed', errorCode: null, finishedAt: 8_000 })),
      transactions: NODES.map(({ id, kind, amountUsd }) => ({
        nodeId: id,
        operation: kind,
        status: 'Succeeded',
        amountUsd,
      })),
      claims: [{ nodeId: 'post', sentAt: 900 }],
    },
  };
  const calls = { '/get': 1, '/post': 1, 'model #0': 1, tool: 1, 'model #1': 2 };
  const project = { runs: 1, spentBeforeUsd: '0', spentAfterUsd: '0.00004' };
  return { evidence: { runs: [run], hits: [HIT], calls, project, complaints: [] }, run, poll };
}

/** The POST was on the wire when the worker died. */
function unknownOutcome(): ReturnType<typeof survivor> {
  const given = survivor();
  const { run, poll, evidence } = given;
  const error = { code: 'outcome_unknown', message: 'unknown' };
  poll.status = 'failed';
  poll.nodes = { start: poll.nodes['start']!, post: { id: 'post', status: 'failed', error } };
  run.later = [structuredClone(poll)];
  run.statuses = ['in progress', 'failed'];
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

describe('invariants of the fault matrix', () => {
  it('find nothing wrong with a run that survived, nor with an unknown outcome that the fault explains', () => {
    assert.deepEqual(checkEvidence(survivor().evidence), []);
    assert.deepEqual(checkEvidence(unknownOutcome().evidence), []);
  });

  type Doctor = (given: ReturnType<typeof survivor>) => void;
  const doctored: [Invariant, string, Doctor][] = [
    ['ends once', 'a run that never ended', ({ run }) => (run.firstTerminal = undefined)],
    ['ends once', 'a terminal status that changed', ({ run }) => (run.later[0]!.status = 'failed')],
    ['ends once', 'a poll that left the terminal status', ({ run }) => run.statuses.push('in progress')],
    ['ends once', 'a status that went back to the queue', ({ run }) => run.statuses.splice(2, 0, 'in queue')],
    ['ends once', 'a run that polls do not find', ({ run }) => run.statuses.unshift('not found')],
    ['ends once', 'a stored status that is another one', ({ run }) => (run.stored!.status = 'Error')],
    ['ends once', 'a run that should have been cancelled', ({ run }) => (run.ending = 'Cancelled')],
    ['data', 'a node missing from the first terminal poll', ({ poll }) => delete poll.nodes['get']],
    ['data', 'data that changed after the end', ({ run }) => (run.later[0]!.nodes['get']!.result!.content = 'tag new')],
    [
      'data',
      'a result of another run',
      ({ poll, run }) => {
        poll.nodes['get']!.result!.content = 'other';
        run.later = [];
      },
    ],
    ['data', 'a node still open in a terminal poll', ({ poll }) => (poll.nodes['get']!.status = 'in progress')],
    ['data', 'a node that must not run', ({ poll }) => (poll.nodes['dead'] = { id: 'dead', status: 'succeed' })],
    ['billing', 'a missing transaction', ({ run }) => run.stored!.transactions.shift()],
    ['billing', 'a doubled transaction', ({ run }) => run.stored!.transactions.push(run.stored!.transactions[0]!)],
    [
      'billing',
      'a transaction of a node that did not run',
      ({ run }) =>
        run.stored!.transactions.push({ nodeId: 'dead', operation: 'http', status: 'Succeeded', amountUsd: '0' }),
    ],
    ['billing', 'a wrong amount', ({ run }) => (run.stored!.transactions[3]!.amountUsd = '0.00002')],
    ['sums', 'a cost that is not the sum', ({ run }) => (run.stored!.costUsd = '0.00008')],
    ['sums', 'a cost that the API shows otherwise', ({ run }) => (run.stored!.shownCostUsd = '0')],
    [
      'sums',
      'a total_spent that grew by something else',
      ({ evidence }) => (evidence.project.spentAfterUsd = '0.00002'),
    ],
    ['finished stays', 'a recorded node that was called again', ({ evidence }) => (evidence.calls['/get'] = 2)],
    [
      'finished stays',
      'a recorded step of an agent that was taken again',
      ({ evidence }) => (evidence.calls['model #0'] = 2),
    ],
    ['repeats', 'a POST that was sent twice', ({ evidence }) => (evidence.calls['/post'] = 2)],
    ['repeats', 'a tool that was called twice', ({ evidence }) => (evidence.calls['tool'] = 2)],
    [
      'repeats',
      'a model call that was repeated more often than calls were cut',
      ({ evidence }) => (evidence.calls['model #1'] = 3),
    ],
    ['repeats', 'a result without a call', ({ evidence }) => delete evidence.calls['tool']],
    ['accepted', 'a request that was never answered', ({ run }) => (run.runId = undefined)],
    ['accepted', 'a doubled run', ({ evidence }) => (evidence.project.runs = 2)],
    [
      'answers',
      'a refused client while the API was up',
      ({ run }) => run.failures.push({ from: 1_100, until: 1_200, what: 'GET got ECONNREFUSED' }),
    ],
    ['fault', 'what the fault itself complains of', ({ evidence }) => evidence.complaints.push('missed its window')],
  ];
  for (const [invariant, what, doctor] of doctored) {
    it(`report ${what} (${invariant})`, () => {
      const given = survivor();
      doctor(given);
      const found = checkEvidence(given.evidence).map((violation) => violation.invariant);
      assert.ok(found.includes(invariant), `found ${found.join(', ') || 'nothing'}`);
    });
  }

  it('have each been shown to fail', () => {
    assert.deepEqual(new Set(doctored.map(([invariant]) => invariant)), new Set(INVARIANTS));
  });

  it('report an unknown outcome whose call was not in flight at the fault', () => {
    const given = unknownOutcome();
    given.run.stored!.claims[0]!.sentAt = 5_000;
    assert.deepEqual(
      checkEvidence(given.evidence).map(({ invariant }) => invariant),
      ['data'],
    );
  });

  it('report an unknown outcome of a call that was made, where only claims could be cut', () => {
    const given = unknownOutcome();
    given.evidence.hits[0]!.cuts = 'claims';
    assert.deepEqual(
      checkEvidence(given.evidence).map(({ invariant }) => invariant),
      ['data'],
    );
    given.evidence.calls = {};
    assert.deepEqual(checkEvidence(given.evidence), []);
  });

  it('report any other failure of a node', () => {
    const given = unknownOutcome();
    for (const poll of [given.poll, ...given.run.later]) poll.nodes['post']!.error!.code = 'network_error';
    assert.deepEqual(
      checkEvidence(given.evidence).map(({ invariant }) => invariant),
      ['data'],
    );
  });

  it('excuse a refused client only while the API or its database was down', () => {
    const given = survivor();
    given.run.failures.push({ from: 1_100, until: 1_200, what: 'GET got ECONNREFUSED' });
    given.evidence.hits[0] = { ...HIT, apiDown: true };
    assert.deepEqual(checkEvidence(given.evidence), []);
    given.run.failures.push({ from: 2_500, until: 2_600, what: 'GET got ECONNREFUSED' });
    assert.equal(checkEvidence(given.evidence)[0]!.invariant, 'answers');
  });
});
