import assert from 'node:assert/strict';
import { needsApproval } from '../../graph/nodes/agent.js';

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
  ];
  for (const [policy, tool, expected] of cases) {
    it(`${JSON.stringify(policy)}: ${tool} ${expected ? 'waits for a person' : 'is called at once'}`, () => {
      assert.equal(needsApproval(policy, tool), expected);
    });
  }
});
