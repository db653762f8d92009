// The valid settings of a human task (docs/use/nodes.md, "Human task").
import assert from 'node:assert/strict';
import { compilePlan } from '../../graph/compile-plan.js';
import { describeNodes } from '../../graph/nodes/describe-nodes.js';
import { actionsOf, humanNode } from '../../graph/nodes/human.js';
import { FIRST_LISTED_HANDLE } from '../../graph/plan.js';
import { findWarnings } from '../../graph/warnings.js';
import { drawing, http, link, node, trigger } from '../../harness/drawing/drawing.js';

describe('a human task', () => {
  function issuesOf(data: object): string[] {
    const { error } = humanNode.schema.safeParse(data);
    return (error?.issues ?? []).map(({ path }) => path.join('.'));
  }

  it('needs a message alone; its one action is then `done`', () => {
    const data = humanNode.schema.parse({ message: 'Well?' });
    assert.deepEqual(actionsOf(data), [{ id: 'done', label: 'Done' }]);
  });

  it('refuses what it cannot be', () => {
    const message = 'Well?';
    assert.deepEqual(issuesOf({}), ['message']);
    assert.deepEqual(issuesOf({ message, actions: [] }), ['actions']);
    assert.deepEqual(
      issuesOf({ message, actions: [{ id: 'a' }, { id: 'a' }, { id: 'timeout' }, { id: 'error' }, { id: 'default' }] }),
      ['actions.1.id', 'actions.2.id', 'actions.3.id', 'actions.4.id'],
    );
    const eleven = Array.from({ length: 11 }, (_, index) => ({ id: `a${index}` }));
    assert.deepEqual(issuesOf({ message, actions: eleven }), ['actions']);
    assert.deepEqual(issuesOf({ message, fields: [{ id: 'a' }, { id: 'a' }] }), ['fields.1.id']);
    assert.deepEqual(issuesOf({ message, fields: [{ id: 'a', is_secret: 'yes' }] }), ['fields.0.is_secret']);
    assert.deepEqual(issuesOf({ message, fields: [{ id: 'a', is_secret: true }] }), []);
    for (const required of [0, 1.5, 21, '2']) assert.deepEqual(issuesOf({ message, required }), ['required']);
    assert.deepEqual(issuesOf({ message, assignees: { roles: ['guest'] } }), ['assignees.roles.0']);
    assert.deepEqual(issuesOf({ message, assignees: { users: [2_147_483_648, -1, 7] } }), [
      'assignees.users.0',
      'assignees.users.1',
    ]);
    assert.deepEqual(issuesOf({ message, timeout: 2_592_001 }), ['timeout']);
  });

  function linksOf(data: Record<string, unknown>, extra: object[] = []): [string, number][] {
    const [begin, after] = [trigger(), http('http://target.invalid/')];
    const ask = node('human', { message: 'Well?', ...data });
    link(begin, ask);
    const drawn = drawing([begin, ask, after]);
    const edges = extra.map((edge) => ({ source: ask.id, target: after.id, ...edge }));
    const compiled = compilePlan({ ...drawn, edges: [...drawn.edges, ...edges] });
    assert.ok(compiled.ok);
    const { ids, out } = compiled.plan;
    return out[ids.indexOf(ask.id)]!.map(([to, handle]) => [ids[to]!, handle]);
  }

  it('is left by the links of its actions and of its timeout; without actions by its ordinary ones', () => {
    const actions = [{ id: 'yes' }, { id: 'no' }];
    const handlesOf = (data: object, edges: object[]) => linksOf({ ...data }, edges).map(([, handle]) => handle);
    assert.deepEqual(handlesOf({ actions }, [{ sourceHandle: 'no' }, { sourceHandle: 'timeout' }]), [
      1,
      FIRST_LISTED_HANDLE + 1,
    ]);
    assert.deepEqual(handlesOf({ actions }, [{}]), [], 'an ordinary link leads nowhere');
    assert.deepEqual(handlesOf({}, [{}]), [0]);
    assert.deepEqual(handlesOf({ actions: null }, [{ sourceHandle: 'done' }]), [0]);
  });

  it('may go on when its time is up, and then say why: that is nothing to be warned of', () => {
    const [begin, ask, after] = [trigger(), node('human', { message: 'Well?' }), http('http://target.invalid/')];
    link(begin, ask);
    ask.data['timeout_node'] = after.id;
    after.data['url'] = `http://target.invalid/{{ ${ask.id}.error.code }}`;
    const data = { ...drawing([begin, ask, after]), edges: [] };
    const compiled = compilePlan(data);
    assert.ok(compiled.ok);
    assert.deepEqual(findWarnings(data, compiled.document, compiled.plan, 365), []);
  });

  it('is described so that an editor needs not know it', () => {
    const described = describeNodes().find(({ type }) => type === 'human-node')!;
    assert.equal(described.handles_from, 'actions');
    assert.equal(described.is_list_optional, true);
    assert.deepEqual(described.handles, [{ id: 'timeout', label: 'Timed out', field: 'timeout_node' }]);
  });
});
