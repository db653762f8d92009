// No difference from n8n is silent: a node that behaves differently has a warning.
import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import type { JsonObject } from '../../graph/json.js';
import { translateN8n } from '../../n8n/translate-n8n.js';

interface Step {
  type: string;
  version?: number;
  parameters?: JsonObject;
}

const manual: Step = { type: 'n8n-nodes-base.manualTrigger' };
const code = (jsCode: string, more: JsonObject = {}): Step => ({
  type: 'n8n-nodes-base.code',
  version: 2,
  parameters: { jsCode, ...more },
});
const asks = (operator: JsonObject, rightValue: unknown = 'x'): JsonObject => ({
  conditions: { conditions: [{ leftValue: '={{ $json.a }}', rightValue, operator }] },
});
const filter = (parameters = asks({ type: 'string', operation: 'equals' })): Step => ({
  type: 'n8n-nodes-base.filter',
  version: 2,
  parameters,
});
const set = (type: string, value: unknown): Step => ({
  type: 'n8n-nodes-base.set',
  version: 3.4,
  parameters: { assignments: { assignments: [{ name: 'field', type, value }] } },
});
const splitOut = (parameters: JsonObject): Step => ({ type: 'n8n-nodes-base.splitOut', parameters });

/** Translates the steps as a chain, named A, B, C and so on. */
function translate(steps: readonly Step[], pinData: JsonObject = {}, ofThird: JsonObject = {}) {
  const name = (index: number): string => String.fromCodePoint(65 + index);
  const nodes = steps.map(({ type, version = 1, parameters = {} }, index) => ({
    id: `node-${name(index)}`,
    name: name(index),
    type,
    typeVersion: version,
    position: [index * 200, 0],
    parameters,
    ...(index === 2 ? ofThird : {}),
  }));
  const connections = Object.fromEntries(
    steps.slice(1).map((_, index) => {
      const links = [{ node: name(index + 1), type: 'main', index: 0 }];
      return [name(index), { main: index === 2 && 'onError' in ofThird ? [links, links] : [links] }];
    }),
  );
  return translateN8n({ nodes, connections, pinData });
}

function warningsOf(steps: readonly Step[], pinData?: JsonObject): string[] {
  return translate(steps, pinData).warnings.map(({ node, message }) => `${node}: ${message}`);
}

describe('differences from n8n', () => {
  it('are none in a chain of single items', () => {
    assert.deepEqual(warningsOf([manual, set('number', 1), filter()]), []);
  });

  for (const [title, step] of [
    ['a filter', filter()],
    ['a filter of texts that look like numbers', filter(asks({ type: 'string', operation: 'equals' }, '1'))],
    ['a filter for what exists', filter(asks({ type: 'string', operation: 'exists' }, ''))],
    ['an if', { ...filter(), type: 'n8n-nodes-base.if' }],
    ['a set that converts', set('number', '={{ $json.a }}')],
    [
      'a switch',
      { type: 'n8n-nodes-base.switch', version: 3, parameters: { rules: { values: [filter().parameters!] } } },
    ],
    ['a request', { type: 'n8n-nodes-base.httpRequest', version: 4, parameters: { url: 'https://example.com' } }],
  ] as const) {
    it(`are none for ${title} that gets several items`, () => {
      assert.deepEqual(warningsOf([manual, code('return items;'), step, code('return items;')]), []);
    });
  }

  it('are reported where a node reads the item of an earlier node from which its own item was made', () => {
    const reads = set('string', "={{ $('B').item.json.a }}");
    const paired = [manual, code('return items;'), set('string', 'x'), reads];
    assert.deepEqual(warningsOf(paired), []);
    assert.deepEqual(warningsOf([manual, code('return items;'), filter(), reads]), [
      'D: n8n reads the item of "B" from which an item was made. Here it is the one at the same position.',
    ]);
  });

  it('are reported where only some of several items fail', () => {
    const nodes = [manual, code('return items;'), set('number', '={{ $json.a }}'), code('return items;')];
    const { warnings } = translate(nodes, {}, { onError: 'continueErrorOutput' });
    assert.deepEqual(
      warnings.map(({ node, message }) => `${node}: ${message}`),
      ['C: n8n sends only the items that failed to the output for errors. Here all items go there if one fails.'],
    );
  });

  it('are reported where the old order of execution executes nodes once more', () => {
    const merge = { type: 'n8n-nodes-base.merge', version: 2, parameters: {} };
    const [warning] = warningsOf([manual, code('return items;'), filter(), merge]);
    assert.match(warning ?? '', /^D: For an input without data, n8n executes the nodes before it all the same/);
    assert.deepEqual(warningsOf([manual, code('return items;'), filter(), { ...merge, version: 2.1 }]), []);
  });

  it('are reported where a wait is shorter here', () => {
    const wait = (parameters: JsonObject): Step => ({ type: 'n8n-nodes-base.wait', version: 1.1, parameters });
    assert.deepEqual(warningsOf([manual, wait({ amount: 29, unit: 'days' })]), []);
    assert.deepEqual(warningsOf([manual, wait({ amount: 40, unit: 'days' })]), [
      'B: n8n waits 40 days. Here the wait ends after 29 days.',
    ]);
    const limited = { resume: 'webhook', limitWaitTime: true, resumeAmount: 1000, resumeUnit: 'hours' };
    assert.deepEqual(warningsOf([manual, wait(limited)]), [
      'B: n8n waits 1000 hours. Here the wait ends after 29 days.',
    ]);
  });

  it('are none for a date and time, which is in the time zone of the workflow', () => {
    const until = (dateTime: string): unknown[] => {
      const parameters = { resume: 'specificTime', dateTime };
      const { drawing, warnings } = translate([manual, { type: 'n8n-nodes-base.wait', version: 1.1, parameters }]);
      const nodes = drawing['nodes'] as { type: string; data: JsonObject }[];
      const made = nodes.find(({ type }) => type === 'wait-node');
      return [made?.data['until'], ...warnings.map(({ message }) => message)];
    };
    assert.deepEqual(until('2030-01-31T09:00:00'), ['2030-01-31T09:00:00-05:00']);
    assert.deepEqual(until('2030-07-31 09:00:00'), ['2030-07-31T09:00:00-04:00']);
    assert.deepEqual(until('2030-07-31'), ['2030-07-31T00:00-04:00']);
    assert.deepEqual(until('2030-01-31T09:00:00Z'), ['2030-01-31T09:00:00Z']);
    assert.deepEqual(until('={{ $json.at }}'), ['{{ node-B-parameters.result.value.p1 }}']);
    assert.deepEqual(until('={{ $json.day }}T09:00Z'), ['{{ input.day }}T09:00Z']);
    assert.deepEqual(until('={{ $json.day }}T09:00'), [
      '{{ input.day }}T09:00',
      'dateTime: without an offset it is in the time zone "America/New_York" in n8n, and in UTC here.',
    ]);
  });

  it('are none for the intervals of schedules that the file does not name', () => {
    const fixOf = (interval: JsonObject): unknown => {
      const type = 'n8n-nodes-base.scheduleTrigger';
      const [warning] = translate([{ type, version: 1.2, parameters: { rule: { interval: [interval] } } }]).warnings;
      return warning?.fix;
    };
    assert.deepEqual(fixOf({ field: 'minutes' }), { schedule: '*/5 * * * *' });
    assert.deepEqual(fixOf({ field: 'minutes', minutesInterval: 10 }), { schedule: '*/10 * * * *' });
    assert.deepEqual(fixOf({ field: 'hours' }), { schedule: '0 * * * *' });
    assert.deepEqual(fixOf({ triggerAtHour: 7 }), { schedule: '0 7 * * *' });
    assert.deepEqual(fixOf({ field: 'minutes', minutesInterval: '={{ 10 }}' }), { schedule: '' });
    assert.deepEqual(fixOf({ triggerAtHour: '={{ 7 }}' }), { schedule: '' });
  });

  it('are reported where requests are sent or redirected in another way', () => {
    const request = (options: JsonObject, version = 4.2): Step => ({
      type: 'n8n-nodes-base.httpRequest',
      version,
      parameters: { url: 'https://example.com', options },
    });
    const refuses = 'B: options.redirect: n8n does not follow redirects of this request. Here it follows up to five.';
    const most = 'B: options.redirect: the number of redirects was left out. Here a request follows up to five.';
    const follow = (redirect: JsonObject): JsonObject => ({ redirect: { redirect } });
    assert.deepEqual(warningsOf([manual, request(follow({ followRedirects: false }))]), [refuses]);
    assert.deepEqual(warningsOf([manual, request(follow({}), 3)]), [refuses]);
    assert.deepEqual(warningsOf([manual, request({ followRedirect: false }, 2)]), [refuses]);
    assert.deepEqual(warningsOf([manual, request(follow({ maxRedirects: 2 }))]), [most]);
    assert.deepEqual(warningsOf([manual, request(follow({}))]), []);
    const batching = { batching: { batch: { batchSize: 2 } } };
    assert.deepEqual(warningsOf([manual, request(batching)]), []);
    assert.deepEqual(warningsOf([manual, code('return items;'), request(batching)]), [
      'C: options.batching: the pauses between requests were left out. Here they are sent one after the other.',
    ]);
  });

  it('are none where a trigger for errors or evaluations stands before the one that starts the workflow', () => {
    const node = (name: string, type: string): JsonObject => ({ name, id: name, type: `n8n-nodes-base.${type}` });
    const link = (to: string): JsonObject => ({ main: [[{ node: to, type: 'main', index: 0 }]] });
    for (const [type, other] of [
      ['errorTrigger', 'manualTrigger'],
      ['evaluationTrigger', 'scheduleTrigger'],
      ['errorTrigger', 'slackTrigger'],
    ] as const) {
      const nodes = [node('Beside', type), node('Start', other), node('Tell', 'noOp'), node('Work', 'httpRequest')];
      const connections = { Beside: link('Tell'), Start: link('Work') };
      const { drawing, warnings } = translateN8n({ nodes, connections });
      const made = drawing['nodes'] as { id: string; type: string; data: JsonObject }[];
      assert.deepEqual(made.find(({ id }) => id === drawing['start_node'])?.data['next_nodes'], ['Work'], other);
      assert.deepEqual(
        warnings.filter(({ node: name }) => name === 'Beside').map(({ message }) => message),
        [
          `n8n-nodes-base.${type} was left out: it has no equivalent. What only it leads to was kept, but does not run.`,
        ],
      );
    }
  });

  it('keep null, which n8n does not convert', () => {
    const { drawing } = translate([manual, set('string', null)]);
    const [, made] = drawing['nodes'] as { data: JsonObject }[];
    assert.deepEqual(made?.data['value'], { field: null });
  });
});

describe('Split Out of n8n', () => {
  /** Runs the code of the translated node as the sandbox does. */
  function split(parameters: JsonObject, json: unknown): unknown {
    const { drawing } = translate([manual, splitOut(parameters)]);
    const [, made] = drawing['nodes'] as { data: { code: string; inputs: JsonObject } }[];
    const inputs = JSON.stringify({ ...made!.data.inputs, json });
    const answer = runInNewContext(`JSON.stringify(((inputs) => {${made!.data.code}})(${inputs}))`) as string;
    return JSON.parse(answer);
  }

  it('puts elements that are no objects into a field of the whole name', () => {
    assert.deepEqual(split({ fieldToSplitOut: 'a.b' }, { a: { b: [1, 'x'] } }), [{ 'a.b': 1 }, { 'a.b': 'x' }]);
  });

  it('makes items of elements that are objects, unless a field is named for them', () => {
    const json = { a: [{ x: 1 }, { x: 2 }] };
    assert.deepEqual(split({ fieldToSplitOut: 'a' }, json), [{ x: 1 }, { x: 2 }]);
    const named = { fieldToSplitOut: 'a', options: { destinationFieldName: 'one' } };
    assert.deepEqual(split(named, json), [{ one: { x: 1 } }, { one: { x: 2 } }]);
  });

  it('takes the values of an object, one value as a list of one, and nothing where there is none', () => {
    assert.deepEqual(split({ fieldToSplitOut: 'a' }, { a: { x: { n: 1 }, y: 2 } }), [{ n: 1 }, { a: 2 }]);
    assert.deepEqual(split({ fieldToSplitOut: 'a' }, { a: 5 }), [{ a: 5 }]);
    assert.deepEqual(split({ fieldToSplitOut: 'a' }, {}), []);
  });

  it('splits each of several items, and reads a name with dots as it stands where that is asked for', () => {
    assert.deepEqual(split({ fieldToSplitOut: 'a' }, [{ a: [1] }, { a: [2, 3] }]), [{ a: 1 }, { a: 2 }, { a: 3 }]);
    const plain = { fieldToSplitOut: 'a.b', options: { disableDotNotation: true } };
    assert.deepEqual(split(plain, { 'a.b': [1] }), [{ 'a.b': 1 }]);
  });
});
