import assert from 'node:assert/strict';
import { ExactNumber } from '../../graph/exact-number.js';
import { findJson } from '../../graph/found-json.js';
import { findShallowJson, toShallowJson } from '../../graph/shallow-json.js';

const FENCE = '```';
const block = (info: string, body: string, mark = FENCE): string => `${mark}${info}\n${body}\n${mark}`;

describe('the JSON in a text of others', () => {
  const found: [title: string, text: string, value: unknown][] = [
    ['bare', ' {"a": 1}\n', { a: 1 }],
    ['a bare word', 'true', true],
    ['null', 'null', null],
    ['behind a mark of the byte order', '\ufeff[1]', [1]],
    ['in a fence', block('json', '{"a": 1}'), { a: 1 }],
    ['in a fence between sentences', `Here you are:\n\n${block('json', '{"a": 1}')}\n\nAnything else?`, { a: 1 }],
    [
      'in a fence with line ends of another kind',
      `So:\r\n${block('json', '{"a": 1}').replaceAll('\n', '\r\n')}\r\n`,
      { a: 1 },
    ],
    ['in a fence with attributes', block('json title="answer.json" {1,3}', '[1]'), [1]],
    ['in a fence without a language', block('', '[1]'), [1]],
    ['in a fence of tildes', block('json', '[1]', '~~~'), [1]],
    ['in a fence that is longer, around a shorter one', block('json', '"```"', '````'), '```'],
    ['in an indented fence', `1. So:\n   ${FENCE}json\n   [1]\n   ${FENCE}`, [1]],
    ['in a fence that is closed behind the value', `${FENCE}json\n[1]${FENCE}\nDone.`, [1]],
    ['in a fence that a longer one closes', `${FENCE}json\n[1]\n${FENCE}\`\``, [1]],
    ['in a fence that nothing closes', `So:\n${FENCE}json\n[1]\n`, [1]],
    ['in a fence of one line', `${FENCE}json [1]${FENCE}`, [1]],
    ['behind the language on its line', `${FENCE}json {"a":\n1}\n${FENCE}`, { a: 1 }],
    ['in the only fenced block that is JSON', `${block('sh', 'ls')}\nand\n${block('json', '[1]')}`, [1]],
    [
      'with fences in its strings',
      block('json', '{"code": "```js\\nx\\n```", "b": "~~~"}'),
      { code: '```js\nx\n```', b: '~~~' },
    ],
    ['that is a text with a fence', JSON.stringify(block('json', '[1]')), block('json', '[1]')],
    ['behind thoughts', '<think>\nIs it {"a": 2}?\n</think>\n\n{"a": 1}', { a: 1 }],
    [
      'behind thoughts with a fence, in a fence',
      `<think>${block('json', '[2]')}</think>\nSo:\n${block('json', '[1]')}`,
      [1],
    ],
    ['in the last of a thousand fenced blocks', `${block('sh', 'ls')}\n`.repeat(999) + block('json', '[1]'), [1]],
    ['behind empty thoughts', ' <think></think>[1]', [1]],
    ['with a number that no double holds, in a fence', block('json', '12345678901234567890'), '12345678901234567890'],
  ];
  for (const [title, text, value] of found) {
    it(`is found ${title}`, () => {
      const json = findJson(text);
      assert.deepEqual(json instanceof ExactNumber ? json.toString() : json, value);
    });
  }

  const none: [title: string, text: string][] = [
    ['nothing', ''],
    ['words', 'Ada is 36.'],
    ['JSON amid words', 'Here: {"a": 1}'],
    ['two fenced blocks with JSON', `${block('json', '[1]')}\nor\n${block('json', '[2]')}`],
    ['a fence with broken JSON', block('json', '{"a": ')],
    ['a fence without anything', block('json', '')],
    ['code amid words', 'Use ```{"a": 1}``` here.'],
    ['thoughts that do not end', `<think>${block('json', '[1]')} or\n${block('json', '[2]')}`],
    ['thoughts alone', '<think>[1]</think>'],
    ['more than a thousand fenced blocks', `${block('sh', 'ls')}\n`.repeat(1_000) + block('json', '[1]')],
    ['JSON of too many values', `[${'1,'.repeat(500_001)}1]`],
  ];
  for (const [title, text] of none) it(`is none in ${title}`, () => assert.equal(findJson(text), undefined));

  it('is found in linear time, whatever the fences are', () => {
    const half = 500_000;
    const hostile = [
      '```\n'.repeat(half),
      '`'.repeat(4 * half),
      '~~~a\n'.repeat(half),
      `\`\`\`\n${'x```\n'.repeat(half)}`,
      `${'`'.repeat(half)}\n${'~~~ `\n'.repeat(half)}`,
      '```json [1]```\n'.repeat(half / 5),
      `<think>${'<think>'.repeat(half)}`,
    ];
    for (const text of hostile) {
      const startedAt = process.cpuUsage();
      findJson(text);
      const { user } = process.cpuUsage(startedAt);
      // A quadratic algorithm would take hours.
      assert.ok(user < 20_000_000, `${text.slice(0, 20)}: ${user} µs`);
    }
  });

  it('stays text where it is nested too deeply', () => {
    const deep = '['.repeat(501) + ']'.repeat(501);
    for (const text of [deep, block('json', deep)]) assert.equal(findShallowJson(text), undefined);
    assert.deepEqual([findShallowJson(block('', '[1]')), toShallowJson(block('', '[1]'))], [[1], undefined]);
  });
});
