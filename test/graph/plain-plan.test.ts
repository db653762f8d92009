import assert from 'node:assert/strict';
import { compilePlan } from '../../graph/compile-plan.js';
import { isPlain } from '../../graph/plain-plan.js';
import { kinds, type NodeKind } from '../../graph/kinds.js';
import { drawing, http, linkInRow, node, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';

function isPlainWith(other: DrawingNode, isLinked = true): boolean {
  const begin = trigger();
  linkInRow(isLinked ? [begin, other] : [begin]);
  const compiled = compilePlan(drawing([begin, other]));
  assert.ok(compiled.ok);
  return isPlain(compiled.plan, drawing([begin, other]));
}

describe('a plan is plain', () => {
  const PLAIN = ['trigger', 'condition', 'llm', 'http', 'mcp', 'switch', 'set', 'output', 'code'];
  for (const kind of Object.keys(kinds) as NodeKind[]) {
    it(`${PLAIN.includes(kind) ? 'with' : 'unless it has'} a node of the kind ${kind}`, () => {
      assert.equal(isPlain({ ...EMPTY, ids: ['a'], kinds: [kind] }, {}), PLAIN.includes(kind));
    });
  }

  it('unless a node that it executes has a connection, because that may wait for a sign-in', () => {
    const connected = http('http://127.0.0.1/', { connection: 7 });
    assert.equal(isPlainWith(http('http://127.0.0.1/')), true);
    assert.equal(isPlainWith(connected), false);
    assert.equal(isPlainWith(connected, false), true);
    assert.equal(isPlainWith(node('mcp', { endpoint_url: 'http://127.0.0.1/', tool_name: 'a', connection: 7 })), false);
  });
});

const EMPTY = { labels: [], out: [], indegree: [] };
