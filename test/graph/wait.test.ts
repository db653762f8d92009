import assert from 'node:assert/strict';
import { compilePlan } from '../../graph/compile-plan.js';
import { describeNodes } from '../../graph/nodes/describe-nodes.js';
import { waitUntil } from '../../graph/nodes/wait.js';
import { renderText, type VariableValues } from '../../graph/template.js';
import { validateNodes } from '../../graph/validate.js';
import { findWarnings } from '../../graph/warnings.js';
import { drawing, edge, http, trigger } from './drawings.js';

const DAY = 24 * 3600;
const NOW = Date.parse('2030-01-01T00:00:00Z');
const values: VariableValues = {
  input: { seconds: 90, day: '2030-01-02', text: 'soon' },
  results: new Map([['w', { content: '', callback_url: 'of the result' }]]),
  callbackUrls: new Map([['w', 'https://x.test/api/v1/callbacks/t/']]),
};

function wait(data: Record<string, unknown>, id = 'w') {
  return { id, type: 'wait-node', data };
}

function untilOf(data: Partial<Parameters<typeof waitUntil>[0]>): number {
  return (waitUntil({ mode: 'duration', ...data }, values, NOW) - NOW) / 1000;
}

function errorsOf(data: Record<string, unknown>): Record<string, string>[] {
  const compiled = compilePlan(drawing([wait(data)]));
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return validateNodes(compiled.document, compiled.plan)['w'] ?? [];
}

function warningsOf(nodes: unknown[], edges?: unknown[]): string[] {
  const data = drawing(nodes, edges);
  const compiled = compilePlan(data);
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return findWarnings(data, compiled.document, compiled.plan, 30).map(({ code, message }) => `${code}: ${message}`);
}

describe('a wait', () => {
  it('lasts the seconds that it says, as a number, a text or a variable', () => {
    for (const [seconds, lasts] of [
      [5, 5],
      [0.25, 0.25],
      ['5', 5],
      ['{{ input.seconds }}', 90],
      [' {{ input.seconds }} ', 90],
      [0, 0],
      [30 * DAY, 30 * DAY],
    ] as const) {
      assert.equal(untilOf({ seconds }), lasts, String(seconds));
    }
  });

  it('ends at a moment, in UTC where it has no offset; a moment that has passed is now', () => {
    for (const [until, lasts] of [
      ['2030-01-01T00:01:00Z', 60],
      ['2030-01-01T01:01:00+01:00', 60],
      ['2030-01-01T00:01', 60],
      ['2030-01-01 00:01:00.500', 60.5],
      ['{{ input.day }}', DAY],
      ['2029-12-31', 0],
    ] as const) {
      assert.equal(untilOf({ mode: 'until', until }), lasts, until);
    }
  });

  it('for a callback lasts three days where it does not say how long', () => {
    assert.equal(untilOf({ mode: 'callback' }), 3 * DAY);
    assert.equal(untilOf({ mode: 'callback', timeout: 1.5 }), 1.5);
    assert.equal(untilOf({ mode: 'callback', timeout: null }), 3 * DAY);
  });

  it('is invalid_wait where variables give a negative time, more than 30 days, or no time', () => {
    const wrong: Partial<Parameters<typeof waitUntil>[0]>[] = [
      { seconds: '-{{ input.seconds }}' },
      { seconds: '{{ input.seconds }}00000' },
      { seconds: '{{ input.text }}' },
      { seconds: '{{ input.nothing }}' },
      { mode: 'until', until: '{{ input.text }}' },
      { seconds: '0x{{ input.seconds }}' },
      { mode: 'until', until: '{{ input.nothing }}' },
      { mode: 'until', until: '2030-02-30' },
      { mode: 'until', until: '2030-02-01T00:00:{{ input.seconds }}Z' },
    ];
    for (const data of wrong) {
      assert.throws(() => untilOf(data), { code: 'invalid_wait' }, JSON.stringify(data));
    }
    const said: [Partial<Parameters<typeof waitUntil>[0]>, string][] = [
      [{ seconds: '{{ input.text }}' }, '`seconds` is not a number from 0 to 2592000.'],
      [{ seconds: '{{ input.seconds }}00000' }, 'The wait is longer than 30 days.'],
      [{ mode: 'until', until: '{{ input.text }}' }, '`until` is not a valid date and time (ISO 8601).'],
      [{ mode: 'until', until: '2030-02-30' }, '`until` is not a valid date and time (ISO 8601).'],
      [{ mode: 'until', until: '2030-03-01' }, 'The wait is longer than 30 days.'],
    ];
    for (const [data, message] of said) assert.throws(() => untilOf(data), { message }, JSON.stringify(data));
  });

  it('is refused where it is written wrongly, in the field of its mode', () => {
    const range = 'Input should be a number of seconds from 0 to 2592000';
    for (const [data, field, message] of [
      [{}, 'seconds', 'Field required'],
      [{ seconds: -1 }, 'seconds', range],
      [{ seconds: '' }, 'seconds', range],
      [{ seconds: 2_592_001 }, 'seconds', range],
      [{ seconds: true }, 'seconds', 'Input should be a valid number or string'],
      [{ mode: 'until' }, 'until', 'Field required'],
      [{ mode: 'until', until: '1/2/2030' }, 'until', 'Input should be a valid date and time (ISO 8601)'],
      [{ seconds: '0x1' }, 'seconds', range],
      [{ mode: 'until', until: '2026-11-31T00:00:00Z' }, 'until', 'Input should be a valid date and time (ISO 8601)'],
      [{ mode: 'until', until: '9999-01-01' }, 'until', 'Input should be at most 30 days ahead'],
      [{ mode: 'callback', timeout: -1 }, 'timeout', 'Input should be greater than or equal to 0'],
      [{ mode: 'callback', timeout: 2_592_001 }, 'timeout', 'Input should be less than or equal to 2592000'],
      [{ mode: 'ever' }, 'mode', "Input should be 'duration', 'until' or 'callback'"],
    ] as const) {
      assert.deepEqual(errorsOf(data), [{ [field]: message }], JSON.stringify(data));
    }
    assert.deepEqual(errorsOf({ mode: 'callback', seconds: '', until: '' }), [], 'what another mode needs is kept');
    assert.deepEqual(errorsOf({ mode: 'until', until: '2000-01-01', seconds: null }), [], 'the past is no mistake');
  });

  it('leads on by its next nodes, and by timeout_node or the edge `timeout` when its time is up', () => {
    for (const named of [true, false]) {
      const data = { mode: 'callback', next_nodes: ['a'], ...(named && { timeout_node: 'b' }) };
      const edges = named ? undefined : [edge('w', 'a'), edge('w', 'b', 'timeout')];
      const compiled = compilePlan(drawing([wait(data), http('a'), http('b')], edges));
      assert.ok(compiled.ok, JSON.stringify(compiled));
      const { ids, out } = compiled.plan;
      const leads = Object.fromEntries(out[0]!.map(([to, handle]) => [ids[to]!, handle]));
      assert.deepEqual(leads, { a: 0, b: 1 });
    }
  });

  it('tells editors its handles and fields', () => {
    const described = describeNodes().find(({ type }) => type === 'wait-node')!;
    const timedOut = { id: 'timeout', label: 'Timed out', field: 'timeout_node', when: { mode: 'callback' } };
    assert.deepEqual(described.handles, [timedOut]);
    assert.equal(described.has_next_nodes, true);
    const { properties } = described.schema as { properties: Record<string, { title: string }> };
    for (const field of ['mode', 'seconds', 'until', 'timeout']) assert.ok(properties[field]!.title, field);
  });

  it('is warned of where a setting changes nothing, or where it may outlast its run', () => {
    const retried = wait({ seconds: 1, retry: { max_attempts: 2 }, timeout_node: 'a' });
    const [first, second, ...rest] = warningsOf([retried, http('a')]);
    assert.match(first!, /^dead_setting: `retry`/);
    assert.match(second!, /^dead_setting: `timeout_node`/);
    assert.deepEqual(rest, []);
    for (const data of [{ seconds: 30 * DAY }, { mode: 'callback', timeout: 30 * DAY }]) {
      assert.match(warningsOf([wait(data)])[0]!, /^outlasts_run: /);
    }
    assert.deepEqual(warningsOf([wait({ mode: 'callback', timeout_node: 'a' }), http('a')]), []);
    assert.deepEqual(warningsOf([wait({ seconds: '{{ input.n }}' })]), []);
  });

  it('may say why its timeout link was taken', () => {
    const after = http('a', [], { url: 'http://x.test/{{ w.error.code }}' });
    assert.deepEqual(warningsOf([wait({ mode: 'callback', timeout_node: 'a' }), after]), []);
    const [reason] = warningsOf([wait({ mode: 'callback', next_nodes: ['a'] }), after]);
    assert.match(reason!, /^unknown_variable: .* the run does not go on after a failure of that node/);
  });

  describe('its address', () => {
    it('is a variable, and hides no field of a result', () => {
      assert.equal(renderText('{{ w.callback_url }}', values), 'https://x.test/api/v1/callbacks/t/');
      assert.equal(renderText('{{ w.result.callback_url }}', values), 'of the result');
      assert.equal(renderText('{{ other.callback_url }}', values), '');
    });

    it('can be read by nodes before the wait; of another node it is a mistake', () => {
      const text = (id: string) => ({ url: `http://x.test/{{ ${id}.callback_url }}` });
      const nodes = (id: string) => [
        trigger('t', ['a']),
        http('a', ['w'], text(id)),
        wait({ mode: 'callback', next_nodes: ['p'] }),
        wait({ seconds: 1 }, 'p'),
      ];
      assert.deepEqual(warningsOf(nodes('w')), []);
      for (const [id, reason] of [
        ['p', 'that node does not wait for a callback'],
        ['a', 'that node does not wait for a callback'],
        ['gone', 'there is no such node'],
      ] as const) {
        const expected = `unknown_variable: The variable {{ ${id}.callback_url }} is not known: ${reason}.`;
        assert.deepEqual(warningsOf(nodes(id)), [expected]);
      }
    });
  });
});
