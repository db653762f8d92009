// Translates Code, Function and Function Item, if their JavaScript uses of n8n only names that javascript.ts lists.
import { addData, listPlace, scopeLines } from './data-node.js';
import { readBody, type JavaScript } from './javascript.js';
import { rowOf } from './json-places.js';
import { textOf } from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { inputsFor, needsDates } from './parameter-code.js';
import { EXPRESSIONS, RETURNED } from './runtime/core.js';
import { DATES } from './runtime/dates.js';

const MAX_CODE = 200_000;

export function translateCode(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const language = textOf(parameters['language']) ?? 'javaScript';
  if (language !== 'javaScript') throw new NotTranslatable(`its language is ${language}`);
  const code = textOf(parameters['jsCode']) ?? '';
  return translate(at, code, parameters['mode'] === 'runOnceForEachItem' ? 'each' : 'all');
}

export function translateFunction(at: NodeTranslation): TranslatedNode {
  return translate(at, textOf(at.parameters['functionCode']) ?? '', 'all');
}

export function translateFunctionItem(at: NodeTranslation): TranslatedNode {
  return translate(at, textOf(at.parameters['functionCode']) ?? '', 'item');
}

/** `all`: once for all items. `each` and `item`: once for each item, which is `$json` or `item` respectively. */
type Mode = 'all' | 'each' | 'item';

function translate(at: NodeTranslation, code: string, mode: Mode): TranslatedNode {
  if (code.trim() === '') throw new NotTranslatable('it has no code');
  if (code.length > MAX_CODE) throw new NotTranslatable('its code is too long');
  const read = readBody(code);
  if ('reason' in read) throw new NotTranslatable(`its code cannot run here: ${read.reason}`);
  const scope = (list: string, index: string): string => scopeLines(read.names, list, index).join('');
  const inner = declared(code, read);
  const body =
    mode === 'all'
      ? `const returned = await (async (items, all) => { ${scope('all', '0')}\n${inner}\n})(items.map((json) => ({ json })), items);`
      : [
          'const returned = [];',
          'for (const [index, json] of items.entries()) {',
          `  returned.push(await (async (item) => { ${scope('items', 'index')}\n${inner}\n})(${mode === 'item' ? 'copy(json)' : '{ json }'}));`,
          '}',
        ].join('\n');
  const reason = at.unreadable(read);
  if (reason !== undefined) throw new NotTranslatable(`its code reads data that is not there: ${reason}`);
  const id = addData(at, {
    parts: [EXPRESSIONS, ...(needsDates(read.names) ? [DATES] : []), RETURNED],
    before: [body],
    returns: 'unwrapped(returned)',
    keepsItems: read.readsItems,
    inputs: inputsFor(at, read),
  });
  const place = listPlace(at, id);
  return oneWay(id, mode === 'all' ? place : { ...place, row: rowOf(at.json) });
}

/**
 * Wraps `code` in a function of its own, because `code` may declare names that the surrounding code defines for n8n.
 * Declares the variables that `code` sets without a declaration.
 */
function declared(code: string, { undeclared }: JavaScript): string {
  const names = [...undeclared];
  return `return await (async () => { ${names.length === 0 ? '' : `let ${names.join(', ')};`}\n${code}\n})();`;
}
