import assert from 'node:assert/strict';
import { compilePlan } from '../../graph/compile-plan.js';
import { findWarnings, type Warning } from '../../graph/warnings.js';
import { condition, drawing, edge, http, llm, trigger } from './drawings.js';
import { cpuMilliseconds } from '../support/cpu-time.js';

function warningsOf(data: unknown, isChat = false): Warning[] {
  const compiled = compilePlan(data);
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return findWarnings(data, compiled.document, compiled.plan, 30, isChat);
}

function codesOf(data: unknown, isChat = false): string[] {
  return warningsOf(data, isChat).map(({ node_id, code }) => `${node_id} ${code}`);
}

describe('findWarnings', () => {
  it('a drawing that is in order has none', () => {
    const nodes = [
      trigger('t', ['a'], [{ id: 'x' }]),
      llm('a', '{{ input.x }} {{ t.result.x }}', ['b']),
      llm('b', '{{ a.result.content }}'),
    ];
    assert.deepEqual(warningsOf(drawing(nodes, [edge('t', 'a'), edge('a', 'b')])), []);
    assert.deepEqual(warningsOf(drawing(nodes, [])), [], 'without drawn edges there is nothing to disagree with');
  });

  it('answer_node: a setting that names no node which writes outside loops', () => {
    const nodes = [trigger('t', ['a']), llm('a', 'hi')];
    const named = (answerNode: unknown) => codesOf({ ...drawing(nodes, []), settings: { answer_node: answerNode } });
    assert.deepEqual([named('a'), named(null)], [[], []]);
    for (const wrong of ['t', 'gone', 7]) assert.deepEqual(named(wrong), ['t answer_node']);
  });

  it('links_disagree: own links and drawn edges that differ', () => {
    const nodes = [trigger('t', ['a']), http('a', ['b']), http('b', [])];
    assert.deepEqual(codesOf(drawing(nodes, [edge('t', 'a'), edge('a', 'b'), edge('b', 'gone')])), [
      'b links_disagree',
    ]);
    assert.deepEqual(codesOf(drawing(nodes, [edge('t', 'a')])), ['a links_disagree']);
  });

  it('links_disagree: a condition, branch by branch', () => {
    const nodes = [condition('c', { true_node: 'a', false_node: 'b' }), http('a'), http('b')];
    const right = [edge('c', 'a', 'condition-true'), edge('c', 'b', 'condition-false')];
    const crossed = [edge('c', 'b', 'condition-true'), edge('c', 'a', 'condition-false')];
    assert.deepEqual(codesOf(drawing(nodes, right)), []);
    assert.deepEqual(codesOf(drawing(nodes, crossed)), ['c links_disagree']);
    assert.deepEqual(
      codesOf(drawing(nodes, [...right, edge('c', 'a')])),
      ['c links_disagree'],
      'an edge without a handle',
    );
  });

  it('literal_credential: a header that looks like a credential, in every kind, variables too', () => {
    const headers = {
      Authorization: '{{ input.x }}',
      'x-api-key': 'k',
      'Idempotency-Key': 'i',
      Cookie: '',
      Accept: 'a',
    };
    const endpoint_url = 'https://mcp.test/';
    const tools = [{ endpoint_url, server_label: 's', headers: { 'X-Session': 's' } }];
    const nodes = [
      trigger('t', ['h'], [{ id: 'x' }]),
      http('h', ['m'], { headers }),
      { id: 'm', type: 'mcp-node', data: { endpoint_url, tool_name: 'n', headers: { Token: 't' }, next_nodes: ['g'] } },
      { id: 'g', type: 'agent-node', data: { tools } },
      http('apart', [], { headers: { Secret: 's' } }),
    ];
    const found = warningsOf(drawing(nodes)).filter(({ code }) => code === 'literal_credential');
    const message = (path: string) =>
      `The header "${path}" looks like a credential: name a connection of the project instead.`;
    assert.deepEqual(
      found.map((warning) => [warning.node_id, warning.message]),
      [
        ['h', message('headers.Authorization')],
        ['h', message('headers.x-api-key')],
        ['m', message('headers.Token')],
        ['g', message('tools.0.headers.X-Session')],
        ['apart', message('headers.Secret')],
      ],
    );
  });

  it('unreachable_node: a node that nothing links to', () => {
    assert.deepEqual(codesOf(drawing([http('a'), llm('b', '{{ foo }}')])), ['b unreachable_node']);
  });

  it('unknown_variable: each with its reason, once a node', () => {
    const text =
      '{{ foo }} {{ input.y }} {{ gone.result.content }} {{ b.result.content }} {{ a.result.content }} {{ foo }}';
    const nodes = [trigger('t', ['a'], [{ id: 'x' }]), llm('a', text, ['b']), http('b')];
    assert.deepEqual(
      warningsOf(drawing(nodes)).map(({ message }) => message),
      [
        'The variable {{ foo }} is not known: it is not a variable.',
        'The variable {{ input.y }} is not known: the trigger has no such input field.',
        'The variable {{ gone.result.content }} is not known: there is no such node.',
        'The variable {{ b.result.content }} is not known: that node does not run before this one.',
        'The variable {{ a.result.content }} is not known: that node does not run before this one.',
      ],
    );
  });

  it('unknown_variable: a node on a parallel branch, but not one before a join', () => {
    const nodes = [
      trigger('t', ['a', 'b']),
      llm('a', '{{ b.result.content }}', ['join']),
      llm('b', '{{ t.result.content }}', ['join']),
      llm('join', '{{ a.result.content }} {{ b.result.content }} {{ t.result.content }}'),
    ];
    assert.deepEqual(codesOf(drawing(nodes)), ['a unknown_variable']);
  });

  it('unknown_variable: looks only where variables are filled in', () => {
    const labelled = http('a', [], { label: '{{ foo }}', headers: { x: '{{ bar }}' }, body: { y: ['{{ baz }}'] } });
    assert.deepEqual(codesOf(drawing([labelled])), ['a unknown_variable', 'a unknown_variable']);
  });

  it('literal_variable: a known variable where none is filled in, once a node, and nothing that may be meant as it is', () => {
    const text =
      'f("{{ input.x }}", `${{ a: 1 }}`, {{}}, "{{ input.y }}", "{{ gone.result }}"); {{ t.result.x }} {{ input.x }}';
    const code = {
      id: 'c',
      type: 'code-node',
      data: { code: text, inputs: { x: '{{ input.x }}', y: '{{ input.y }}' } },
    };
    const found = warningsOf(drawing([trigger('t', ['c'], [{ id: 'x' }]), code]));
    assert.deepEqual(
      found.map((warning) => [warning.code, warning.message]),
      [
        ['unknown_variable', 'The variable {{ input.y }} is not known: the trigger has no such input field.'],
        ['literal_variable', 'The variable {{ input.x }} is not filled in in "code", where it is text.'],
        ['literal_variable', 'The variable {{ t.result.x }} is not filled in in "code", where it is text.'],
      ],
    );
  });

  it('unknown_variable: a field that the trigger does not declare, also as its result', () => {
    const text = '{{ t.result.x }} {{ t.result.content }} {{ t.result }} {{ input }} {{ t.result.y }} {{ input[0] }}';
    assert.deepEqual(
      warningsOf(drawing([trigger('t', ['a'], [{ id: 'x' }]), llm('a', text)])).map(({ message }) => message),
      ['The variable {{ t.result.y }} is not known: the trigger has no such input field.'],
    );
    assert.deepEqual(codesOf(drawing([trigger('t', ['a']), llm('a', text)])), []);
  });

  it('unknown_variable: a field that a task does not ask for, and a key that a written value lacks', () => {
    const of = (id: string, type: string, data: object, next: string) => {
      return { id, type, data: { id, label: id, next_nodes: [next], ...data } };
    };
    const ask = of('ask', 'human-node', { message: 'Which?', fields: [{ id: 'size', type: 'text' }] }, 'made');
    const nodes = [trigger('t', ['ask']), ask, of('made', 'set-node', { value: { a: 1 } }, 'free')];
    const free = of('free', 'set-node', { value: '{{ input }}' }, 'a');
    const found = (path: string) =>
      warningsOf(drawing([...nodes, free, llm('a', `{{ ${path} }}`)])).map(({ message }) => message);
    for (const path of ['ask.result.values.size', 'ask.result.comment', 'made.result.value.a', 'free.result.value.b'])
      assert.deepEqual(found(path), [], path);
    const unknown = (path: string, reason: string) => [`The variable {{ ${path} }} is not known: ${reason}.`];
    const [weight, b] = ['ask.result.values.weight', 'made.result.value.b'];
    assert.deepEqual(found(weight), unknown(weight, 'that task has no such field'));
    assert.deepEqual(found(b), unknown(b, 'the value of that node has no such key'));
  });

  it('unknown_variable: not the four fields that the messages of a chat bring', () => {
    const text = '{{ input.message }} {{ input.messages[0].content }} {{ t.result.conversation_id }} {{ input.files }}';
    const drawn = drawing([trigger('t', ['a'], [{ id: 'x' }]), llm('a', `${text} {{ input.tone }}`)]);
    assert.deepEqual(codesOf(drawn, true), ['a unknown_variable']);
    assert.equal(codesOf(drawn).length, 5);
  });

  it('unused_message: a chat of which no node that runs uses what was written', () => {
    const lonely = llm('lonely', '{{ input.message }}');
    const drawn = (text: string) => drawing([trigger('t', ['a']), llm('a', text), lonely]);
    const found = (text: string, isChat = true) =>
      codesOf(drawn(text), isChat).filter((code) => code !== 'lonely unreachable_node');
    for (const text of [
      'hi',
      '{{ input.files }}',
      '{{ input.messages_of_day }}',
      '{{ a.result.message }}',
      'message',
    ]) {
      assert.ok(found(text).includes('t unused_message'), text);
    }
    for (const use of [
      '{{ input.message }}',
      '{{ input.messages[0].content }}',
      '{{ input["messages"] }}',
      '{{ input }}',
      '{{ t.result.message }}',
      '{{ t.result.content }}',
      '{{ t.result }}',
    ]) {
      assert.deepEqual(found(use), [], use);
    }
    assert.deepEqual(found('hi', false), []);
  });

  it('unused_message: a use counts where variables are filled in, within rounds and conditions, too', () => {
    const uses: [string, Record<string, unknown>][] = [
      ['code-node', { code: '', inputs: { said: '{{ input.message }}' } }],
      ['if-else-node', { condition: { any: [{ left: '{{ input.message }}', operator: 'is_empty' }] } }],
      ['human-node', { message: '{{ input.message }}' }],
      ['workflow-node', { workflow_id: 1, input: { text: '{{ input.message }}' } }],
      ['loop-node', { until: { left: '{{ input.message }}', operator: 'is_empty' } }],
    ];
    for (const [type, data] of uses) {
      const nodes = [trigger('t', ['a']), { id: 'a', type, data }];
      assert.ok(!codesOf(drawing(nodes), true).includes('t unused_message'), type);
    }
    const code = { id: 'a', type: 'code-node', data: { code: 'return "{{ input.message }}";' } };
    assert.deepEqual(codesOf(drawing([trigger('t', ['a']), code]), true), ['t unused_message', 'a literal_variable']);
  });

  it('empty_condition: an empty side, with its path, where the operator takes it', () => {
    const is = (left: unknown, right: unknown, operator = '==') => ({ left, operator, right });
    const found = (type: string, data: object) =>
      warningsOf(drawing([{ id: 'c', type, data }]))
        .filter(({ code }) => code === 'empty_condition')
        .map(({ path, message }) => `${path}: ${message}`);
    const side = (path: string, which: string) => `${path}: The ${which} side of the condition is empty.`;
    assert.deepEqual(found('if-else-node', { condition: is('', ' ') }), [
      side('condition.left', 'left'),
      side('condition.right', 'right'),
    ]);
    assert.deepEqual(found('if-else-node', { condition: { left: '', operator: 'is_empty', right: '' } }), [
      side('condition.left', 'left'),
    ]);
    for (const full of [is('{{ input.x }}', 0), is(false, 'a'), { left: 'a', operator: 'is_not_empty', right: '' }]) {
      assert.deepEqual(found('if-else-node', { condition: full }), []);
    }
    const cases = [
      { id: 'a', condition: is('1', '1') },
      { id: 'b', condition: { all: [is('1', '1'), { any: [is('', '1'), is('1', '', 'contains')] }] } },
    ];
    assert.deepEqual(found('switch-node', { cases }), [
      side('cases.1.condition.all.1.any.0.left', 'left'),
      side('cases.1.condition.all.1.any.1.right', 'right'),
    ]);
    assert.deepEqual(found('loop-node', { until: is('', '1') }), [side('until.left', 'left')]);
    // The mistake is an error of the node, and no warning.
    for (const wrong of [undefined, null, 7, '', [], {}, { all: [{}, null, ''] }, is('1', '', 'is'), { left: null }]) {
      assert.deepEqual(found('if-else-node', { condition: wrong }), []);
      assert.deepEqual(found('switch-node', { cases: [wrong, { condition: wrong }] }), []);
      assert.deepEqual(found('switch-node', { cases: wrong }), []);
    }
  });

  it('a trigger without declared fields takes any input', () => {
    assert.deepEqual(
      codesOf(drawing([trigger('t', ['a']), llm('a', '{{ input.any.thing }} {{ input[0] }} {{ input }}')])),
      [],
    );
  });

  it('the raw input is always known', () => {
    const nodes = [trigger('t', ['a'], [{ id: 'x' }]), llm('a', '{{ input.__raw_input__ }}')];
    assert.deepEqual(codesOf(drawing(nodes)), []);
  });

  it('5,000 nodes that all name one of their predecessors take under two seconds of processor time', () => {
    const nodes = Array.from({ length: 5000 }, (_, index) =>
      llm(`n${index}`, `{{ n0.result.content }}`, index < 4999 ? [`n${index + 1}`] : []),
    );
    const tookMs = cpuMilliseconds(() => assert.deepEqual(codesOf(drawing(nodes)), ['n0 unknown_variable']));
    assert.ok(tookMs < 2000, `${tookMs} ms`);
  });

  it('bounds the warnings of a hostile drawing', () => {
    const text = Array.from({ length: 50_000 }, (_, index) => `{{ foo${index} }}`).join('');
    assert.equal(warningsOf(drawing([llm('a', text)])).length, 1000);
  });

  it('dead_setting: what every node may say, where it changes nothing', () => {
    const nodes = [
      trigger('t', ['a', 'b', 'c'], [], { retry: { max_attempts: 2 } }),
      http('a', [], { on_error: 'branch' }),
      http('b', [], { error_node: 'c', retry: { max_attempts: 2 } }),
      http('c', [], { on_error: 'branch', error_node: 'd' }),
      http('d'),
    ];
    assert.deepEqual(codesOf(drawing(nodes)), ['t dead_setting', 'a dead_setting', 'b dead_setting']);
  });

  it('dead_setting: attempts of a loop, which calls nobody', () => {
    const body = { body_node: 'a', retry: { max_attempts: 2 } };
    const each = { id: 'l', type: 'for-each-node', data: { id: 'l', label: 'l', items: '[1]', ...body } };
    assert.deepEqual(codesOf(drawing([trigger('t', ['l']), each, http('a')])), ['l dead_setting']);
  });

  it('unknown_variable: in what a loop says of each iteration', () => {
    const body = { body_node: 'a', until: { left: '{{ gone.result }}', operator: '==', right: '{{ l.index }}' } };
    const loop = {
      id: 'l',
      type: 'loop-node',
      data: { id: 'l', label: 'l', ...body, output: ['{{ a.result }}', '{{ x.y }}'] },
    };
    const found = warningsOf(drawing([trigger('t', ['l']), loop, http('a')]));
    assert.deepEqual(
      found.map(({ message }) => message),
      [
        'The variable {{ gone.result }} is not known: there is no such node.',
        'The variable {{ x.y }} is not known: it is not a variable.',
      ],
    );
  });

  it('unknown_variable: the callback of a node in a body, outside it', () => {
    const text = '{{ w.callback_url }}';
    const wait = { id: 'w', type: 'wait-node', data: { id: 'w', label: 'w', mode: 'callback', next_nodes: ['a'] } };
    const each = {
      id: 'l',
      type: 'for-each-node',
      data: { id: 'l', label: 'l', items: '[1]', body_node: 'w', next_nodes: ['b'] },
    };
    const nodes = [trigger('t', ['l']), each, wait, llm('a', text), llm('b', text)];
    assert.deepEqual(codesOf(drawing(nodes)), ['b unknown_variable']);
  });

  it('outlasts_run: a human task that may last as long as a run', () => {
    const task = { id: 'h', type: 'human-node', data: { id: 'h', label: 'h', message: 'Well?', timeout: 2_592_000 } };
    assert.deepEqual(codesOf(drawing([trigger('t', ['h']), task])), ['h outlasts_run']);
  });

  it('dead_end: `continue` on a kind that has no ordinary links', () => {
    const cases = [{ id: 'a', condition: { left: '1', operator: '=', right: '1' }, node: 'b' }];
    const choose = { id: 's', type: 'switch-node', data: { id: 's', label: 's', cases, on_error: 'continue' } };
    assert.deepEqual(codesOf(drawing([trigger('t', ['s']), choose, llm('b', 'x')])), ['s dead_end']);
    assert.deepEqual(codesOf(drawing([trigger('t', ['h']), http('h', [], { on_error: 'continue' })])), []);
  });

  it('unknown_variable: the error of a node whose failure ends the run', () => {
    const text = '{{ a.error.code }} {{ b.error.message }}';
    const nodes = [http('a', ['b']), http('b', ['c'], { on_error: 'continue' }), llm('c', text)];
    assert.deepEqual(
      warningsOf(drawing(nodes)).map(({ message }) => message),
      ['The variable {{ a.error.code }} is not known: the run does not go on after a failure of that node (on_error).'],
    );
  });
});
