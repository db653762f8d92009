import assert from 'node:assert/strict';
import { askOf, asksFor, policySentence, withAsk } from '../../../console/parts/agent-tools/approval-policy.js';
import { addressIn, knownServers, labelFor, newTool } from '../../../console/parts/agent-tools/new-tool.js';
import { isSameServer } from '../../../console/parts/agent-tools/same-server.js';
import { approvalSentence } from '../../../console/kinds/approval-sentence.js';
import { propertiesOf } from '../../../console/forms/schema.js';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';
import { needsApproval } from '../../../graph/nodes/agent.js';
import type { JsonObject } from '../../../graph/json.js';
import { drawing } from '../../graph/drawings.js';

const TOOLS = ['read', 'write', 'send'];

describe('which calls of a server wait', () => {
  it('is what the service makes of the policy, also for tools in both lists or in none', () => {
    const lists = { always: { tool_names: ['write'] }, never: { tool_names: ['read', 'write'] } };
    const some = { ...lists, when_given: [{ tool_name: 'send', arguments: ['copy'] }] };
    for (const policy of ['always', 'never', {}, lists, some] as const) {
      for (const tool of TOOLS) assert.equal(asksFor(policy, tool), needsApproval(policy as 'always', tool), tool);
    }
  });

  it('changes for one tool alone', () => {
    const when_given = [{ tool_name: 'send', arguments: ['copy'] }];
    const some = { never: { tool_names: ['read'] }, when_given };
    const policies = [
      'always',
      'never',
      { never: { tool_names: ['read'] } },
      { always: { tool_names: ['send'] } },
      some,
    ];
    // All calls of `send` wait, so its condition must not take the place of `always`.
    const both = { always: { tool_names: ['send'] }, when_given };
    assert.equal(withAsk(both, TOOLS, 'read', true), 'always');
    assert.deepEqual(withAsk(both, TOOLS, 'read', false), { never: { tool_names: ['read'] } });
    assert.deepEqual(withAsk(some, TOOLS, 'write', false), { never: { tool_names: ['read', 'write'] }, when_given });
    for (const policy of policies) {
      for (const tool of TOOLS) {
        for (const asks of [true, false]) {
          const next = withAsk(policy, TOOLS, tool, asks);
          const expected = TOOLS.map((each) => (each === tool ? asks : asksFor(policy, each)));
          assert.deepEqual(
            TOOLS.map((each) => asksFor(next, each)),
            expected,
            JSON.stringify([policy, tool, asks]),
          );
        }
      }
    }
    assert.equal(withAsk({ never: { tool_names: ['read'] } }, TOOLS, 'read', true), 'always');
    assert.equal(asksFor(withAsk('never', TOOLS, 'read', true), 'new'), true, 'a tool that comes later asks');
  });

  it('is said in words', () => {
    assert.deepEqual(
      ['always', 'never', { never: { tool_names: ['read'] } }].map((policy) => askOf(policy, TOOLS)),
      ['all', 'none', 'some'],
    );
    assert.equal(policySentence('always', []), 'Each call waits until a person approves it.');
    assert.equal(
      policySentence({ never: { tool_names: ['read', 'write'] } }, TOOLS),
      'Calls of read and write are made at once. Each other call waits until a person approves it.',
    );
    assert.equal(
      policySentence(
        { never: { tool_names: ['read'] }, when_given: [{ tool_name: 'send', arguments: ['copy'] }] },
        TOOLS,
      ),
      'Calls of read are made at once. Calls of send wait only with certain arguments. Each other call waits until a person approves it.',
    );
    const many = { never: { tool_names: ['a', 'b', 'c', 'd', 'e'] } };
    assert.match(policySentence(many, ['a']), /^Calls of a, b, c and 2 more are made/);
  });
});

const agent = describeNodes().find(({ type }) => type === 'agent-node')!;
const list = propertiesOf(agent.schema as JsonObject)['tools']!;

describe('a tool that is added', () => {
  it('is a server with a label of its host, or a workflow, as the schema begins them', () => {
    assert.deepEqual(newTool(list, 'mcp', { endpoint_url: 'http://127.0.0.1:3001/mcp' }, []), {
      type: 'mcp',
      server_label: '127.0.0.1:3001',
      endpoint_url: 'http://127.0.0.1:3001/mcp',
    });
    assert.equal(labelFor('https://a.example/mcp', [{ server_label: 'a.example' }]), 'a.example 2');
    assert.equal(labelFor('', []), '');
    assert.deepEqual(newTool(list, 'workflow', { workflow_id: 7 }, []), { type: 'workflow', workflow_id: 7 });
  });

  it('may be typed as an address', () => {
    const typed = ['https://a.example/mcp', 'a.example/mcp', 'localhost:3001/mcp', '127.0.0.1:80', 'a.example'];
    assert.deepEqual(typed.map(addressIn), [
      'https://a.example/mcp',
      'https://a.example/mcp',
      'http://localhost:3001/mcp',
      'http://127.0.0.1:80',
      'https://a.example',
    ]);
    assert.deepEqual(['', 'orders', 'two words', 'https://', 'ftp://a'].map(addressIn), Array(5).fill(undefined));
  });

  it('may be a server of another node, without the secrets that are stored there', () => {
    const server = { endpoint_url: 'https://a.example', headers: { 'X-Key': '********', Accept: 'a' } };
    const nodes = [
      { id: 'm', type: 'mcp-node', data: { ...server, tool_name: 'x' } },
      {
        id: 'a',
        type: 'agent-node',
        data: { tools: [{ type: 'mcp', server_label: 'l', endpoint_url: 'https://b.example' }] },
      },
    ];
    assert.deepEqual(knownServers(drawing(nodes), []), [
      { endpoint_url: 'https://a.example', headers: { Accept: 'a' } },
      { endpoint_url: 'https://b.example' },
    ]);
    assert.equal(knownServers(drawing(nodes), [{ endpoint_url: 'https://a.example' }]).length, 1);
  });
});

it('a server stays the same when a save masks its secrets, until its address or connection changes', () => {
  const asked = { endpoint_url: 'https://a.example', headers: { 'X-Key': 'typed', Accept: 'a' }, timeout: 5 };
  const saved = { ...asked, headers: { Accept: 'a', 'X-Key': '********' }, workflow_id: 7, node_id: 'a' };
  assert.ok(isSameServer(asked, saved));
  assert.ok(isSameServer(asked, { ...asked, transport: null }));
  for (const change of [
    { endpoint_url: 'https://a.example/mcp' },
    { transport: 'sse' },
    { connection: 1 },
    { headers: { 'X-Key': 'typed' } },
    { headers: { 'X-Key': 'typed', Accept: 'a', More: 'b' } },
  ]) {
    assert.ok(!isSameServer(asked, { ...asked, ...change }), JSON.stringify(change));
  }
});

it('the rules of approval are said in words', () => {
  const settings = propertiesOf(agent.schema as JsonObject)['settings']!;
  assert.equal(
    approvalSentence(settings, {}),
    'One person has to approve a call within 3 days. Any editor, admin or owner of the project may decide. The model is told of a rejected call and goes on.',
  );
  const strict = {
    approval: { required: 2, exclude_starter: true, roles: ['owner'] },
    approval_timeout: 90,
    on_reject: 'fail',
  };
  assert.equal(
    approvalSentence(settings, strict),
    '2 people have to approve a call within 90 seconds. Any owner of the project may decide, but not the one who started the run. A rejected call fails the node.',
  );
});
