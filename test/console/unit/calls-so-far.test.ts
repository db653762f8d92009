import assert from 'node:assert/strict';
import { callsSoFar } from '../../../console/parts/chat/calls-so-far.js';

describe('the tool calls of an agent in a chat', () => {
  type Steps = Parameters<typeof callsSoFar>[0];
  const steps = (...tools: string[][]): Steps =>
    tools.map((names, index) => ({
      iteration: index + 1,
      tool_calls: names.map((tool_name) => ({ tool_name, outcome: 'result' })),
    })) as unknown as Steps;
  const words = (step: number, ...names: string[]) => ({
    step,
    toolCalls: names.map((name) => ({ id: 'id', name, arguments: '{"text":"tea"}' })),
  });
  const shown = (...asked: Parameters<typeof callsSoFar>) =>
    callsSoFar(...asked).map(({ tool_name: name, outcome }) => [name, outcome]);

  it('are those of its steps, and those that its model asks for, which may be the same tools again', () => {
    assert.deepEqual(shown(steps(), words(0, 'note')), [['note', null]]);
    assert.deepEqual(shown(steps(['note']), words(0, 'note')), [['note', 'result']]);
    const again = [
      ['note', 'result'],
      ['note', null],
    ];
    assert.deepEqual(shown(steps(['note']), words(1, 'note')), again);
    assert.deepEqual(shown(steps(['note'], []), words(1, 'note')), again, 'the step has begun');
    assert.equal(shown(steps(['note'], ['note']), words(1, 'note')).length, 2);
    assert.equal(shown(steps(['note', 'add'], ['add']), undefined).length, 3);
  });

  it('have their arguments as JSON, or as the text that has come so far', () => {
    const [call] = callsSoFar([], words(0, 'note'));
    assert.deepEqual(call!.arguments, { text: 'tea' });
    const [cut] = callsSoFar([], { step: 0, toolCalls: [{ id: 'id', name: 'note', arguments: '{"text":"te…' }] });
    assert.equal(cut!.arguments, '{"text":"te…');
  });
});
