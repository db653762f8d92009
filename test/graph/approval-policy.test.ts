import assert from 'node:assert/strict';
import { argumentsThatAsk, isArgumentGiven, needsApproval } from '../../graph/nodes/agent.js';

describe('approval policy', () => {
  const cases: [Parameters<typeof needsApproval>[0], string, boolean][] = [
    ['always', 'read', true],
    ['never', 'read', false],
    [{}, 'read', true],
    [{ never: { tool_names: ['read'] } }, 'read', false],
    [{ never: { tool_names: ['read'] } }, 'write', true],
    [{ never: { tool_names: ['read'] } }, 'READ', true],
    [{ always: { tool_names: ['write'] } }, 'write', true],
    [{ always: { tool_names: ['write'] } }, 'read', true],
    [{ always: { tool_names: ['both'] }, never: { tool_names: ['both'] } }, 'both', true],
    [{ never: { tool_names: [] } }, '__proto__', true],
    [{ never: { tool_names: ['send'] }, when_given: [{ tool_name: 'send', arguments: ['copy'] }] }, 'send', true],
    [{ never: { tool_names: ['read'] }, when_given: [{ tool_name: 'send', arguments: ['copy'] }] }, 'read', false],
  ];
  for (const [policy, tool, expected] of cases) {
    it(`${JSON.stringify(policy)}: ${tool} ${expected ? 'waits for a person' : 'is called at once'}`, () => {
      assert.equal(needsApproval(policy, tool), expected);
    });
  }

  it('asks for calls with one of the named arguments alone, unless a list asks for all of them', () => {
    const when_given = [{ tool_name: 'send', arguments: ['copy', 'files'] }];
    assert.deepEqual(argumentsThatAsk({ never: { tool_names: ['send'] }, when_given }, 'send'), ['copy', 'files']);
    assert.equal(argumentsThatAsk({ always: { tool_names: ['send'] }, when_given }, 'send'), undefined);
    assert.equal(argumentsThatAsk({ when_given }, 'read'), undefined);
    assert.equal(argumentsThatAsk('always', 'send'), undefined);
  });

  it('takes null, false and what is empty for an argument that is not given', () => {
    const call = { none: null, no: false, blank: '', list: [], map: {}, zero: 0, text: 'a', items: [null] };
    const given = [...Object.keys(call), 'absent', 'toString'].filter((name) => isArgumentGiven(call, name));
    assert.deepEqual(given, ['zero', 'text', 'items']);
  });
});
