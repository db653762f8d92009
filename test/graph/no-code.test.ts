// Graphs are data: no part of them is ever run as code, except the code of code nodes in its sandbox.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { hasVariables, renderJson, renderText, type VariableValues } from '../../graph/template.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** The folders of code that runs for users; `cli` starts the embedded servers. */
const FOLDERS = [
  'activities',
  'api',
  'config',
  'connections',
  'db',
  'graph',
  'n8n',
  'openapi',
  'outgoing',
  'temporal-workflows',
];

const EXPRESSIONS = [
  'constructor',
  'input.constructor',
  'input.constructor.constructor',
  "input.constructor.constructor('return process')()",
  "constructor.constructor('return process.mainModule.require')()('child_process').execSync('id')",
  'input.__proto__',
  'input.__proto__.polluted',
  'input["__proto__"]["polluted"]',
  'input.toString',
  'input.toString()',
  'input.list.map',
  'input.list.constructor.constructor',
  'input.list.length',
  'input.text.length',
  'input.text.constructor',
  'n.result.constructor',
  'n.result.content.constructor',
  'n.result.__proto__',
  'process',
  'process.env',
  'process.env.SECRETS_KEY',
  'globalThis.process',
  'this',
  'this.constructor.constructor("return process")()',
  'global',
  'require("fs")',
  "require('child_process').execSync('id')",
  'import("node:fs")',
  '$evaluateExpression("1")',
  '$env.SECRETS_KEY',
  '$input.all()',
  '$json.x',
  '7*7',
  '7 * input.number',
  '`${7*7}`',
  '(() => 1)()',
  '() => 1',
  'function(){return 1}()',
  'new Date()',
  'config.items()',
  "''.__class__.__mro__[1].__subclasses__()",
  'self.__init__.__globals__',
  'request.application.__globals__',
  'cycler.__init__.__globals__.os.popen("id").read()',
  '%7*7%',
  '= 7*7',
  '@import("x")',
  'input.text | upper',
  'input.text;input.text',
  'input.text,input.text',
  'input.text + input.text',
  'input.text ?? 1',
  'input?.text',
  'input.text/**/',
  'input.text // x',
  'delete input.text',
  'input.text = 1',
  'await input.text',
  'typeof input',
];

/** Files that import a module which evaluates code or starts processes, but not for the text of a user. */
const ALLOWED = new Set([
  // It locates the files of one package, whose name is a literal.
  'api/http/docs-page.ts',
  // It replaces a function of `node:vm` in the threads of Temporal's SDK, which run our own workflow code.
  'activities/worker/lean-threads/preload.ts',
  // They start the process for the code of code nodes, whose file name is a literal, and locate its packages.
  'activities/kinds/code/child/libraries.ts',
  'activities/kinds/code/child/run-program.ts',
  'activities/kinds/code/process-flags.ts',
  'activities/kinds/code/sandbox-process.ts',
]);

describe('no code in graphs', () => {
  const values: VariableValues = {
    input: { text: 'plain', number: 7, list: [1, 2] },
    results: new Map([['n', { content: '{"a":1}' }]]),
  };

  for (const expression of EXPRESSIONS) {
    it(`{{ ${expression} }} is not evaluated`, () => {
      // A text that is a valid path of a variable is replaced by an empty one, because no value has it. Any other text
      // stays.
      const unlessVariable = (text: string): string => (hasVariables(text) ? '' : text);
      const text = `{{ ${expression} }}`;
      assert.equal(renderText(text, values), unlessVariable(text));
      assert.equal(renderText(`a{{${expression}}}b`, values), `a${unlessVariable(`{{${expression}}}`)}b`);
      assert.deepEqual(renderJson({ [expression]: text }, values), { [expression]: unlessVariable(text) });
    });
  }

  it('delimiters of other languages are text', () => {
    for (const text of ['${7*7}', '<%= 7*7 %>', '{% if 1 %}', '#{7*7}', '=7*7', '[[7*7]]', '{{=7*7', '`id`', '$(id)']) {
      assert.equal(renderText(text, values), text);
    }
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  it('no source that serves users evaluates text, loads what it names or starts a process', () => {
    const evaluates =
      /\beval\s*\(|\bnew\s+Function\b|\bFunction\s*\(|['"](?:node:)?(?:vm|child_process|cluster|module|repl|inspector)['"]|\bimport\s*\(\s*[^'")\s]|\brequire\s*\(/;
    for (const folder of FOLDERS) {
      for (const name of readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
        if (!/\.(?:ts|js)$/.test(name)) continue;
        if (ALLOWED.has(`${folder}/${name}`)) continue;
        const found = evaluates.exec(readFileSync(path.join(ROOT, folder, name), 'utf8'));
        assert.equal(found?.[0], undefined, `${folder}/${name}`);
      }
    }
  });
});
