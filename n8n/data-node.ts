// Adds the code node that does the work of a node of n8n: it has the runtime, the parameters and a return statement.
import type { JsonObject } from '../graph/json.js';
import { rowOf, wholePlace, type JsonPlace } from './json-places.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { OF_DATES, OF_ITEMS } from './javascript.js';
import { needsDates, writeParameters } from './parameter-code.js';
import { CORE, EXPRESSIONS } from './runtime/core.js';
import { DATES } from './runtime/dates.js';

export interface DataCode {
  /** Texts of the runtime. */
  parts: readonly string[];
  /** Parameters of n8n, whose expressions are evaluated for each item. The code reads them as `parametersOf(index)`. */
  parameters?: unknown;
  /** The expression for the node's result. It may use `items` and `parametersOf`. */
  returns: string;
  /**
   * The expression for the result after an error, if n8n's node continues then. The default is the input, as in n8n.
   * Null: the node fails.
   */
  failing?: string | null;
  /** Names that `before` defines, and that expressions of the parameters may read. */
  own?: ReadonlySet<string>;
  /** Lines of code before the return statement. They may use `items`. */
  before?: readonly string[];
  /** False if the result contains nothing of the items except what the parameters read. */
  keepsItems?: boolean;
  /** Further inputs of the code node. */
  inputs?: JsonObject;
}

const TIMEOUT_SECONDS = 30;
/** The limit on the characters of a code node. */
const MAX_CODE = 250_000;

/** Adds the code node and returns its id. */
export function addData(
  at: NodeTranslation,
  { parts, parameters = {}, before = [], returns, failing = 'items', keepsItems = true, inputs = {}, own }: DataCode,
  note?: string,
  newId?: string,
): string {
  const { source, names, inputs: needed } = writeParameters(at, parameters, own);
  const settings = at.node.settings;
  const isOnce = settings['executeOnce'] === true;
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
    answerOf(returns, {
      isFilled: settings['alwaysOutputData'] === true,
      failing: goesOnAfterErrors(at) && failing !== null ? failing : undefined,
    }),
  ];
  const readsItems = keepsItems || goesOnAfterErrors(at) || [...(names ?? [])].some((name) => OF_ITEMS.has(name));
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
    ? [`const made = ${returns};`, 'return made.length === 0 ? [{}] : made;']
    : [`return ${returns};`];
  return failing === undefined
    ? lines.join('\n')
    : `try {\n${lines.join('\n')}\n} catch (error) {\nreturn ${failing};\n}`;
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

/** Defines names of n8n for one item. The library for dates defines its own. */
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
  /** `error`: a node that continues after errors outputs the error as the item. Otherwise it outputs its input. */
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
 * taken, as in n8n.
 */
export function addOutputs(at: NodeTranslation, count: number, code: DataCode, note?: string): TranslatedNode {
  const none = ', []'.repeat(count - 1);
  const id = addData(at, { failing: `[items${none}]`, ...code }, note);
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
    return { sources: [{ id: ways, handle }], place, ...(!isOne && { isShared: true as const }) };
  });
  return { entry: id, main: id, outputs };
}
