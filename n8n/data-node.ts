// Adds the code node that does the work of a node of n8n: it has the runtime, the parameters and a return statement.
import type { JsonObject } from '../graph/json.js';
import { rowOf, wholePlace, type JsonPlace } from './json-places.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { OF_DATES, OF_ITEMS } from './javascript.js';
import { needsDates, writeParameters } from './parameter-code.js';
import { CORE, EXPRESSIONS } from './runtime/core.js';
import { DATES } from './runtime/dates.js';

export interface DataCode {
  /** Pieces of JavaScript that define what `before` and `returns` use, besides `CORE`. */
  parts: readonly string[];
  /** Parameters of n8n. In the code, `parametersOf(index)` evaluates their expressions for the item at `index`. */
  parameters?: unknown;
  /** The expression for the node's result. It may use `items` and `parametersOf`. */
  returns: string;
  /**
   * The expression for the result after an error, if n8n's node continues then. The default is the input, as in n8n.
   * Null: the node fails.
   */
  failing?: string | null;
  /**
   * True if a list without items becomes one empty item where n8n always outputs data. False by default in a node that
   * runs for each of several items, because n8n looks at the items of all runs together.
   */
  fills?: boolean;
  /** Names that `before` defines, and that expressions of the parameters may read. */
  own?: ReadonlySet<string>;
  /** Lines of code before the return statement. They may use `items` and `parametersOf`. */
  before?: readonly string[];
  /** False if the result contains nothing of the items except what the parameters read. */
  keepsItems?: boolean;
  /** Further inputs of the code node. An input `json` replaces the items that come in. */
  inputs?: JsonObject;
}

const TIMEOUT_SECONDS = 30;
/** Below the limit on the characters of a code node (`MAX_CODE_CHARACTERS`). */
const MAX_CODE = 250_000;

/** Adds the code node and returns its id. */
export function addData(
  at: NodeTranslation,
  {
    parts,
    parameters = {},
    before = [],
    returns,
    failing = 'items',
    fills = !at.isForEach,
    keepsItems = true,
    inputs = {},
    own,
  }: DataCode,
  note?: string,
  newId?: string,
): string {
  const { source, names, inputs: needed } = writeParameters(at, parameters, own);
  const settings = at.node.settings;
  const isOnce = settings['executeOnce'] === true;
  const goesOn = goesOnAfterErrors(at) && failing !== null;
  const lines = [
    CORE,
    ...new Set([
      ...(names === undefined ? [] : [EXPRESSIONS]),
      ...(names !== undefined && needsDates(names) ? [DATES] : []),
      ...parts,
    ]),
    `const items = itemsOf(inputs.json)${isOnce ? '.slice(0, 1)' : ''};`,
    parametersOf(source, names),
    ...before,
    answerOf(returns, { isFilled: fills && isAlwaysFilled(at), failing: goesOn ? failing : undefined }),
  ];
  const readsItems = keepsItems || goesOn || [...(names ?? [])].some((name) => OF_ITEMS.has(name));
  const code = lines.map((text) => text.trim()).join('\n');
  if (code.length > MAX_CODE) throw new NotTranslatable('its code would be too long');
  return at.add(
    'code',
    {
      code,
      inputs: { ...(inputs['json'] === undefined && { json: at.itemsForCode(readsItems) }), ...needed, ...inputs },
      settings: { timeout: TIMEOUT_SECONDS },
    },
    note,
    newId,
  );
}

interface Answer {
  isFilled: boolean;
  failing: string | undefined;
}

function answerOf(returns: string, { isFilled, failing }: Answer): string {
  const lines = isFilled
    ? [`const made = ${returns};`, 'return Array.isArray(made) && made.length === 0 ? [{}] : made;']
    : [`return ${returns};`];
  return failing === undefined
    ? lines.join('\n')
    : `try {\n${lines.join('\n')}\n} catch (error) {\nreturn ${failing};\n}`;
}

/** True if n8n puts out one empty item at the first output where that would have none. */
export function isAlwaysFilled({ node: { settings } }: NodeTranslation): boolean {
  return settings['alwaysOutputData'] === true;
}

/** True if n8n continues at the ordinary output after an error. */
export function goesOnAfterErrors({ node: { settings } }: NodeTranslation): boolean {
  return (
    settings['onError'] === 'continueRegularOutput' ||
    (settings['onError'] === undefined && settings['continueOnFail'] === true)
  );
}

function parametersOf(source: string, names: ReadonlySet<string> | undefined): string {
  if (names === undefined) return `const fixed = ${source};\nconst parametersOf = () => fixed;`;
  return [
    'const parametersOf = (index) => {',
    ...scopeLines(names, 'items', 'index'),
    `  return ${source};`,
    '};',
  ].join('\n');
}

/** Returns code that defines names of n8n for one item. `DATES` defines `DateTime`, `Duration` and `Interval`. */
export function scopeLines(names: ReadonlySet<string>, list: string, index: string): string[] {
  const ofItem = [...names].filter((name) => !OF_DATES.has(name));
  return [
    ...(ofItem.length === 0 ? [] : [`  const { ${ofItem.join(', ')} } = scopeOf(${list}, ${index});`]),
    ...(names.has('$now') ? ['  const $now = DateTime.now();'] : []),
    ...(names.has('$today') ? ["  const $today = DateTime.now().startOf('day');"] : []),
  ];
}

interface EachItem extends Omit<DataCode, 'returns' | 'failing'> {
  /** The expression for the item that n8n outputs. It may use `item` and `parameters`. */
  makes: string;
  /** What a node that continues after an error outputs: with `error`, the error as the item; by default, its input. */
  failing?: 'error';
}

/** Adds a code node that outputs one item for each incoming one. */
export function addForEach(at: NodeTranslation, { makes, failing, ...code }: EachItem): TranslatedNode {
  const goesOn = failing === 'error' && goesOnAfterErrors(at);
  const body = goesOn
    ? `{ try { return ${makes}; } catch (error) { return { error: error.message }; } }`
    : `{ return ${makes}; }`;
  const list = `items.map((item, index) => { const parameters = parametersOf(index); ${body} })`;
  if (at.json.items !== undefined) {
    const id = addData(at, { ...code, returns: list });
    return oneWay(id, { ...at.resultPlace(id), items: 'several', row: rowOf(at.json) });
  }
  const id = addData(at, { ...code, returns: `(${list})[0]`, failing: 'items[0]' });
  return oneWay(id, at.resultPlace(id));
}

/** Adds a code node that outputs a list of any length. */
export function addList(at: NodeTranslation, code: DataCode): TranslatedNode {
  const id = addData(at, code);
  return oneWay(id, listPlace(at, id));
}

export function listPlace(at: NodeTranslation, id: string): JsonPlace {
  return { ...at.resultPlace(id), items: 'several' };
}

/**
 * Adds a code node that returns one list for each output, and a switch behind it: an output whose list is empty is not
 * taken, as in n8n. `takesAll`: one item may leave by several outputs.
 */
export function addOutputs(
  at: NodeTranslation,
  count: number,
  code: DataCode,
  { note, takesAll = false }: { note?: string; takesAll?: boolean } = {},
): TranslatedNode {
  const none = ', []'.repeat(count - 1);
  const isFilled = isAlwaysFilled(at);
  // n8n does not execute a node without items. The code of nodes with several inputs gets none as `items`.
  const isEmpty = 'first.length === 0 && (items.length > 0 || inputs.json === null)';
  const returns = isFilled
    ? `(([first, ...others]) => [${isEmpty} ? [{}] : first, ...others])(${code.returns})`
    : code.returns;
  const id = addData(at, { failing: `[items${none}]`, ...code, returns }, note);
  const isOne = at.json.items === undefined && at.around.flows.length <= 1;
  const cases = Array.from({ length: count }, (_, output) => ({
    id: `output-${output + 1}`,
    condition: { left: `{{ ${id}.result.value[${output}] }}`, operator: 'is_not_empty' },
  }));
  const ways = at.add('switch', { cases, mode: 'all' }, 'outputs');
  at.link({ id, handle: null }, ways);
  const outputs = cases.map(({ id: handle }, output): TranslatedNode['outputs'][number] => {
    const list = `${id}.result.value[${output}]`;
    const place: JsonPlace = isOne
      ? wholePlace(`${list}[0]`, `${list}[0]`, at.around.order)
      : { ...wholePlace(list, list, at.around.order), items: 'several' };
    const isShared = !isOne || isFilled || takesAll;
    return { sources: [{ id: ways, handle }], place, ...(isShared && { isShared }) };
  });
  return { entry: id, main: id, outputs };
}
