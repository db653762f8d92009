// The rules of variables (docs/use/interface-notes/graphs.md, "Input, variables and conditions"), one row a rule.
import assert from 'node:assert/strict';
import { renderJson, renderText, type NodeOutput, type VariableValues } from '../../graph/template.js';

const NODE = '2b7e4a10-6f0c-4d7a-9f2e-0c9d1f1e7a11';
const FENCED = 'f0000000-0000-4000-8000-000000000001';
const TILDES = 'f0000000-0000-4000-8000-000000000002';
const TOLD = 'f0000000-0000-4000-8000-000000000005';
const LISTED = 'f0000000-0000-4000-8000-000000000003';
const BROKEN = 'f0000000-0000-4000-8000-000000000004';

const input = JSON.parse(`{
  "field": "value", "empty": "", "nothing": null, "yes": true, "no": false, "zero": 0, "price": 1.50, "huge": 1e21,
  "nested": {"field": "deep", "list": [1, [2, 3]]}, "tags": ["red", "green"], "users": [{"name": "Ann"}, {"name": "Bob"}],
  "object": {"0": "as key", "length": 3}, "quote": "say \\"hi\\"\\n", "größe": "ü", "日本": "語", "emoji": "👩‍🚀",
  "with-dash": "dash", "with space": "space", "dotted.key": "dotted", "template": "{{ input.field }}", "input": "inner",
  "__proto__": {"own": "kept"}, "braces": "}} {{", "__raw_input__": "whole text"
}`) as Record<string, unknown>;

const results = new Map<string, NodeOutput>([
  [NODE, { content: 'Hello', status_code: 200, json: { a: [{ b: 'c' }] }, headers: { 'content-type': 'text/plain' } }],
  [
    'plain',
    { content: '{"title": "T", "list": [1, {"x": null}], "content": "inner", "usage": "shadowed"}', usage: { n: 1 } },
  ],
  [FENCED, { content: '```json\n{"verdict": "yes", "score": 0.5}\n```' }],
  [TILDES, { content: '\n~~~\n{"verdict": "no"}\n~~~\n' }],
  [TOLD, { content: '<think>{"verdict": "no"}?</think>\nSo:\n\n```json title="a"\n{"verdict": "yes"}\n```\n\nMore?' }],
  [LISTED, { content: '[{"title": "first"}, {"title": "second"}]' }],
  [BROKEN, { content: '```json\n{"verdict": \n```' }],
  ['scalar', { content: '"text"' }],
  ['__proto__', { content: 'odd id' }],
]);

const values: VariableValues = { input, results };

describe('variables inside text', () => {
  const rows: [template: string, rendered: string, rule: string][] = [
    ['{{ input.field }}', 'value', 'a field of the input'],
    ['<{{ input.field }}>', '<value>', 'the text around it stays'],
    ['{{ input.nested.field }}', 'deep', 'a nested field'],
    ['{{ input.tags[1] }}', 'green', 'an element by index'],
    ['{{ input.tags.1 }}', 'green', 'an index with a dot'],
    ['{{ input.users[0].name }}', 'Ann', 'a field of an element'],
    ['{{ input.users.1.name }}', 'Bob', 'the same with dots'],
    ['{{ input.nested.list[1][0] }}', '2', 'an element of an element'],
    ['{{ input.nested.list.1.1 }}', '3', 'the same with dots'],
    ['{{ input.__raw_input__ }}', 'whole text', 'the whole text of a plain-text input'],
    ['{{ input.object.0 }}', 'as key', 'digits also name a key'],
    ['{{ input.object[0] }}', 'as key', 'in brackets too'],
    ['{{ input.object.length }}', '3', 'an own property called length'],
    ['{{ input["dotted.key"] }}', 'dotted', 'a quoted key'],
    ["{{ input['with space'] }}", 'space', 'a key in single quotes'],
    ['{{ input.input }}', 'inner', 'a field called input'],
    ['{{ input.with-dash }}', 'dash', 'a dash in a key'],
    ['{{ input.with space }}', 'space', 'a space in a key'],
    ['{{ input.größe }}{{ input.日本 }}{{ input.emoji }}', 'ü語👩‍🚀', 'unicode keys and values'],
    // Whitespace.
    ['{{input.field}}', 'value', 'no space inside the braces'],
    ['{{   input.field\t\n}}', 'value', 'any space inside the braces'],
    ['{{ input . field }}', 'value', 'space around the dot'],
    ['{{ input.tags [ 0 ] }}', 'red', 'space around the brackets'],
    [' {{ input.field }} ', ' value ', 'space outside stays'],
    // Several variables.
    ['{{ input.field }}{{ input.field }}', 'valuevalue', 'two in a row'],
    ['{{ input.yes }}, {{ input.zero }} and {{ input.price }}', 'true, 0 and 1.5', 'several in a text'],
    // Types.
    ['n={{ input.zero }}', 'n=0', 'a number as its JSON text'],
    ['n={{ input.huge }}', 'n=1e+21', 'a large number as its JSON text'],
    ['b={{ input.no }}', 'b=false', 'a boolean as its JSON text'],
    ['x={{ input.nothing }}', 'x=', 'null as empty'],
    ['x={{ input.empty }}', 'x=', 'an empty string as empty'],
    ['o={{ input.nested }}', 'o={"field":"deep","list":[1,[2,3]]}', 'an object as JSON'],
    ['a={{ input.tags }}', 'a=["red","green"]', 'a list as JSON'],
    ['{{ input.quote }}', 'say "hi"\n', 'a string as it stands, not as JSON'],
    // Missing values.
    ['x={{ input.missing }}', 'x=', 'a missing field'],
    ['x={{ input.missing.deeper[3] }}', 'x=', 'a field of a missing field'],
    ['x={{ input.field.length }}', 'x=', 'a property of a string'],
    ['x={{ input.field[0] }}', 'x=', 'a character of a string'],
    ['x={{ input.nothing.field }}', 'x=', 'a field of null'],
    ['x={{ input.tags[2] }}', 'x=', 'an index past the end'],
    ['x={{ input.tags[-1] }}', 'x={{ input.tags[-1] }}', 'an index below zero, which is no variable'],
    ['x={{ input.tags[01] }}', 'x=', 'an index with a leading zero'],
    ['x={{ input.tags[99999999999999999999] }}', 'x=', 'an index beyond all lists'],
    ['x={{ input.Field }}', 'x=', 'a field in another case'],
    // Own properties only.
    ['x={{ input.tags.length }}', 'x=', 'the length of a list'],
    ['x={{ input.constructor }}', 'x=', 'constructor'],
    ['x={{ input.constructor.name }}', 'x=', 'a property of constructor'],
    ['x={{ input.toString }}', 'x=', 'a method'],
    ['x={{ input.nested.__proto__ }}', 'x=', '__proto__'],
    ['x={{ input.nested.__proto__.toString }}', 'x=', 'a property of __proto__'],
    ['x={{ input.__proto__.own }}', 'x=kept', 'an own key called __proto__'],
    [`x={{ ${NODE}.result.hasOwnProperty }}`, 'x=', 'a method of a result'],
    // Results of other nodes.
    [`{{ ${NODE}.result.content }}`, 'Hello', 'the output string of a node'],
    [`{{ ${NODE}.result.status_code }}`, '200', 'another field of the result'],
    [`{{ ${NODE}.result.json.a[0].b }}`, 'c', 'a path into a field of the result'],
    [`{{ ${NODE}.result.headers.content-type }}`, 'text/plain', 'a header'],
    [`{{ ${NODE.toUpperCase()}.result.content }}`, '', 'an id in another case'],
    ['{{ plain.result.title }}', 'T', 'a field of content that is JSON'],
    ['{{ plain.result.list[1].x }}|{{ plain.result.list[0] }}', '|1', 'a path into content that is JSON'],
    ['{{ plain.result.content }}', String(results.get('plain')?.content), 'content itself is never taken apart'],
    ['{{ plain.result.usage }}', '{"n":1}', 'a field of the result before one of the content'],
    ['{{ plain.result.usage.missing }}', '', 'without falling back to the content'],
    ['{{ plain.result.content.title }}', '', 'content is a string without fields'],
    [`{{ ${FENCED}.result.verdict }} {{ ${FENCED}.result.score }}`, 'yes 0.5', 'content in a code fence'],
    [`{{ ${FENCED}.result.content }}`, '```json\n{"verdict": "yes", "score": 0.5}\n```', 'the fence stays in content'],
    [`{{ ${TOLD}.result.verdict }}`, 'yes', 'the one fenced block between sentences, behind thoughts'],
    [`{{ ${TILDES}.result.verdict }}`, 'no', 'a fence of tildes without a language'],
    [`{{ ${LISTED}.result[1].title }}`, 'second', 'content that is a list'],
    [`{{ ${LISTED}.result.0.title }}`, 'first', 'the same with a dot'],
    [`{{ ${LISTED}.result.length }}`, '', 'the length of content that is a list'],
    [`x={{ ${BROKEN}.result.verdict }}`, 'x=', 'content that is not quite JSON'],
    ['x={{ scalar.result.length }}', 'x=', 'content that is a JSON string'],
    ['{{ __proto__.result.content }}', 'odd id', 'an id called __proto__'],
    ['x={{ constructor.result.content }}', 'x=', 'an id that is no node'],
    ['x={{ gone.result.content }}', 'x=', 'a node that has not run'],
    // A text that is no variable stays as it was typed.
    ['x={{ foo }}', 'x={{ foo }}', 'a word that is no variable'],
    ['x={{ }}', 'x={{ }}', 'nothing but space'],
    ['x={{}}', 'x={{}}', 'nothing at all'],
    ['x={{ inputs.field }}', 'x={{ inputs.field }}', 'almost input'],
    [`x={{ ${NODE} }}{{ ${NODE}.content }}`, `x={{ ${NODE} }}{{ ${NODE}.content }}`, 'a node without result'],
    [`x={{ ${NODE}.results.content }}`, `x={{ ${NODE}.results.content }}`, 'almost result'],
    ['x={{ .result.content }}', 'x={{ .result.content }}', 'no node id'],
    [
      '{{ input. }}{{ input..field }}{{ input.tags[] }}',
      '{{ input. }}{{ input..field }}{{ input.tags[] }}',
      'an empty part',
    ],
    [
      '{{ input.tags[0 }}{{ input.tags[0]x }}',
      '{{ input.tags[0 }}{{ input.tags[0]x }}',
      'a bracket that is not closed or not alone',
    ],
    ['x={{ input.field | upper }}', 'x=', 'a filter of another language, which reads as the name of a field'],
    ['x={{ 1 + 1 }}', 'x={{ 1 + 1 }}', 'an expression of another language'],
    ['{{"a":1}}', '{{"a":1}}', 'JSON in double braces'],
    ['{{ foo }} {{ input.field }} {{}}', '{{ foo }} value {{}}', 'a variable beside what is none'],
    ['{{', '{{', 'braces that only open'],
    ['}} {{', '}} {{', 'braces the wrong way round'],
    ['{{ input.field }', '{{ input.field }', 'one brace too few'],
    ['{ input.field }', '{ input.field }', 'single braces'],
    ['{ { input.field } }', '{ { input.field } }', 'braces with a space'],
    ['{{ input.field }} {{ input', 'value {{ input', 'a rest that only opens'],
    ['{{ {{ input.field }}', '{{ value', 'the inner of two openings'],
    ['{{ {{ input.field }} }}', '{{ value }}', 'nested braces'],
    ['{{{ input.field }}}', '{value}', 'a variable in braces of its own'],
    ['{"a":{"b":{{ input.zero }}}}', '{"a":{"b":0}}', 'a variable in JSON text'],
    ['{{ input.field }}}}', 'value}}', 'closing braces that are left over'],
    // Inserted values are not rendered again.
    ['{{ input.template }}', '{{ input.field }}', 'a value that looks like a variable'],
    ['{{ input.braces }} input.field }}', '}} {{ input.field }}', 'a value that opens braces'],
    ['{{ input.{{ input.input }} }}', '{{ input.inner }}', 'a variable cannot name a variable'],
    ['', '', 'an empty text'],
    ['no variables', 'no variables', 'a text without variables'],
  ];
  for (const [template, rendered, rule] of rows) {
    it(`${rule}: ${JSON.stringify(template)}`, () => assert.equal(renderText(template, values), rendered));
  }

  it('an input that is a list is read by index', () => {
    const list: VariableValues = { input: ['a', { b: 'c' }], results: new Map() };
    assert.equal(renderText('{{ input[0] }}{{ input.0 }}{{ input[1].b }}{{ input.length }}', list), 'aac');
  });

  it('the whole input is JSON', () => {
    assert.equal(renderText('{{ input }}', { input: { a: [1] }, results: new Map() }), '{"a":[1]}');
    assert.equal(renderText('{{ input }}', { input: {}, results: new Map() }), '{}');
  });
});

describe('variables in JSON values', () => {
  const rows: [value: unknown, rendered: unknown, rule: string][] = [
    ['{{ input.zero }}', 0, 'exactly one variable keeps a number'],
    ['{{input.price}}', 1.5, 'without spaces too'],
    ['{{ input.yes }}', true, 'a boolean'],
    ['{{ input.nothing }}', null, 'null'],
    ['{{ input.nested }}', { field: 'deep', list: [1, [2, 3]] }, 'an object'],
    ['{{ input.tags }}', ['red', 'green'], 'a list'],
    ['{{ input.field }}', 'value', 'a string'],
    ['{{ input.empty }}', '', 'an empty string'],
    ['{{ input.missing }}', '', 'a missing value is an empty string'],
    ['{{ foo }}', '{{ foo }}', 'what is no variable stays text'],
    [{ a: ['{{}}', '{{ 1 + 1 }}'] }, { a: ['{{}}', '{{ 1 + 1 }}'] }, 'what is no variable at any depth'],
    [`{{ ${NODE}.result.status_code }}`, 200, 'a field of a result keeps its type'],
    [`{{ ${FENCED}.result.score }}`, 0.5, 'a field of fenced JSON keeps its type'],
    [`{{ ${FENCED}.result.content }}`, '```json\n{"verdict": "yes", "score": 0.5}\n```', 'content stays a string'],
    [' {{ input.zero }}', ' 0', 'space outside makes it text'],
    ['{{ input.zero }}{{ input.zero }}', '00', 'two variables make it text'],
    ['{{ {{ input.zero }}', '{{ 0', 'more braces make it text'],
    ['{{ input.template }}', '{{ input.field }}', 'a value is not looked at again'],
    [{ a: ['{{ input.zero }}', { b: 'x{{ input.zero }}' }] }, { a: [0, { b: 'x0' }] }, 'strings at any depth'],
    [{ '{{ input.field }}': 1 }, { '{{ input.field }}': 1 }, 'keys are no templates'],
    [[1, true, null], [1, true, null], 'other values stay'],
    [7, 7, 'a value that is no string stays'],
  ];
  for (const [value, rendered, rule] of rows) {
    it(`${rule}: ${JSON.stringify(value)}`, () => assert.deepEqual(renderJson(value, values), rendered));
  }

  it('a key called __proto__ stays a key', () => {
    const rendered = renderJson(JSON.parse('{"__proto__": "{{ input.field }}"}'), values);
    assert.equal(JSON.stringify(rendered), '{"__proto__":"value"}');
  });
});
