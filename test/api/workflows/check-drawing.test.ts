// Tests the warnings of the check for nodes to which no link leads.
import assert from 'node:assert/strict';
import { checkDrawing } from '../../../api/workflows/check-drawing.js';
import { condition, drawing, http, llm, trigger } from '../../graph/drawings.js';

describe('the check of nodes that nothing leads to', () => {
  const runs = [trigger('t', ['a']), http('a')];
  const check = (nodes: unknown[], missingErrors = {}) =>
    checkDrawing(drawing([...runs, ...nodes]), {}, 365, { missingErrors });
  const unlinked = (...given: Parameters<typeof check>) =>
    check(...given)
      .warnings.filter(({ code }) => code === 'unlinked_error')
      .map(({ node_id: nodeId, path, message }) => [nodeId, path, message]);

  it('warns of the errors that they would have if they ran, and the drawing stays valid', () => {
    const wrong = [
      { id: 'm', type: 'basic-node', data: { messages: [{ role: 'user', message: '' }], settings: {} } },
      { id: 'c', type: 'if-else-node', data: { condition: { all: [{ left: '1', operator: '==' }] } } },
    ];
    const { is_valid: isValid, errors, status } = check(wrong);
    assert.deepEqual([isValid, errors, status], [true, [], 200]);
    assert.deepEqual(unlinked(wrong), [
      ['m', 'messages.0.message', 'String should have at least 1 character'],
      ['m', 'settings.model_name', 'Field required'],
      ['c', 'condition.all.0.right', 'Field required'],
    ]);
    assert.deepEqual(unlinked([condition('right'), llm('good', 'Hi')]), []);
  });

  it('does not warn of errors that a link may fix, and reports the errors of nodes that run once', () => {
    const loop = { id: 'l', type: 'loop-node', data: { until: { left: '1', operator: '==', right: '1' } } };
    assert.deepEqual(unlinked([loop]), []);
    const drawn = drawing([trigger('t', ['a']), http('a', [], { url: '' })]);
    const { errors, warnings } = checkDrawing(drawn, {}, 365);
    assert.deepEqual([errors.map(({ path }) => path), warnings], [['url'], []]);
  });

  it('warns of a connection that their project lacks, which is an error of nodes that run', () => {
    const missing = { x: [{ connection: 'no such connection' }], a: [{ connection: 'no such connection' }] };
    assert.deepEqual(unlinked([http('x')], missing), [['x', 'connection', 'no such connection']]);
    assert.deepEqual(
      check([http('x')], missing).errors.map(({ node_id: nodeId, path }) => [nodeId, path]),
      [['a', 'connection']],
    );
  });

  it('lists a thousand at most, with those of every node id', () => {
    const messages = Array.from({ length: 400 }, () => ({ role: 'user', message: '' }));
    const many = ['x', '__proto__', '1', 'y'].map((id) => ({
      id,
      type: 'basic-node',
      data: { messages, settings: { model_name: 'm' } },
    }));
    const found = unlinked(many);
    assert.equal(found.length, 1_000);
    assert.ok(found.some(([nodeId]) => nodeId === '__proto__'));
  });
});
