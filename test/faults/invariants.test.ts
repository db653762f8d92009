import assert from 'node:assert/strict';
import { checkEvidence } from '../../faults/invariants.js';
import { INVARIANTS, type Invariant } from '../../faults/report.js';
import { addIteration, drop, HIT, survivor, toChild, unknownOutcome } from './doctored-evidence.js';

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
    ['data', 'a node of an iteration that was not executed', ({ run }) => drop(run.stored!.nodes, 'each[1]')],
    [
      'data',
      'a result of another iteration',
      ({ run }) => (run.stored!.nodes.find(({ path }) => path === 'each[1]')!.result = '{"content":"other"}'),
    ],
    ['data', 'a node that was executed in an iteration too many', ({ run }) => addIteration(run)],
    ['data', 'an iteration that is missing', ({ run }) => run.stored!.iterations.pop()],
    ['data', 'an iteration that is open', ({ run }) => (run.stored!.iterations[0]!.status = 'in progress')],
    ['billing', 'an iteration without its transaction', ({ run }) => drop(run.stored!.transactions, 'each[1]')],
    [
      'repeats',
      'a call of an iteration that was repeated too often',
      ({ evidence }) => (evidence.calls['/each[0]'] = 3),
    ],
    [
      'finished stays',
      'a call of an iteration that was repeated after its record',
      ({ evidence }) => {
        evidence.hits[0] = { ...HIT, finished: [{ runId: 'run-1', path: 'each[0]', nodeId: 'inner', step: null }] };
      },
    ],
    ['one child', 'a node that has started two runs', ({ run }) => run.children.push({ ...toChild(), runId: 'run-3' })],
    ['one child', 'a node that has started none', ({ run }) => run.children.pop()],
    ['one child', 'a node that succeeded with a run that failed', ({ run }) => (run.children[0]!.status = 'Error')],
    ['data', 'a node of a started run that was not executed', ({ run }) => run.children[0]!.nodes.pop()],
    ['billing', 'a started run without its transaction', ({ run }) => run.children[0]!.transactions.pop()],
    ['sums', 'a started run whose cost is no part of the total', ({ run }) => (run.children[0]!.costUsd = '0')],
    ['one answer', 'two answers that were accepted', ({ run }) => (run.answers[0]!.outcome = 'accepted')],
    ['one answer', 'another answer than the accepted one', ({ run }) => (run.answers[1]!.text = 'other')],
    ['one answer', 'an answer that was refused', ({ run }) => (run.answers[1]!.outcome = 'refused')],
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
    // A claim that was in flight at the fault may be executed later. Its call is then never made.
    given.evidence.calls = {};
    assert.deepEqual(checkEvidence(given.evidence), []);
    given.run.stored!.claims[0]!.sentAt = 60_000;
    assert.equal(checkEvidence(given.evidence).length, 1);
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
