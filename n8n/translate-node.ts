// The steps that every node's translation shares: its incoming links, and its settings for retries and failures.
import { traitsOf, type NodeKind } from '../graph/kinds.js';
import { MAX_DEPTH } from '../graph/plan.js';
import { translateAgent, translateChain, translateFirstOpenAi, translateOpenAi } from './models.js';
import { translateCall, translateStop, translateWait } from './control.js';
import { translateCode, translateFunction, translateFunctionItem } from './code.js';
import { translateDateTime } from './dates.js';
import { translateFilter, translateIf, translateSwitch } from './decisions.js';
import { excludeEachOther, placesOf, type Flow } from './flows.js';
import { translateConvertToFile, translateExtractFromFile, translateReadPdf } from './files.js';
import { translateHttpRequest } from './http-request.js';
import {
  translateAggregate,
  translateItemLists,
  translateLimit,
  translateLoop,
  translateRemoveDuplicates,
  translateSort,
  translateSplitOut,
  translateSummarize,
} from './lists.js';
import { addData, addOutputs, isAlwaysFilled, listPlace } from './data-node.js';
import { addJunction, translateCompareDatasets, translateMerge } from './merge.js';
import { RESULTS } from './runtime/core.js';
import { translateRenameKeys, translateSet } from './set.js';
import { translateCrypto, translateHtml, translateHtmlExtract, translateMarkdown, translateXml } from './texts.js';
import { numberOf, LOOP_TYPE, SPLIT_OUT_TYPE } from './n8n-file.js';
import { NotTranslatable, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { JsonText } from './parameter-code.js';
import { rowOf, templateAt, wholePlace, type JsonPlace } from './json-places.js';
import { services, translateService } from './services/translate-service.js';
import { translateNoOp, translateResponse } from './values.js';

/** Types that call another system or workflow, and run once for each item here. n8n does the same for most of them. */
export const ONCE_FOR_EACH: ReadonlySet<string> = new Set([
  'n8n-nodes-base.httpRequest',
  'n8n-nodes-base.openAi',
  '@n8n/n8n-nodes-langchain.openAi',
  '@n8n/n8n-nodes-langchain.chainLlm',
  '@n8n/n8n-nodes-langchain.agent',
  'n8n-nodes-base.executeWorkflow',
  ...Object.keys(services),
]);
/** Types whose inputs differ in meaning, so that their data is not joined. */
export const TYPES_OF_DIFFERING_INPUTS: ReadonlySet<string> = new Set([
  'n8n-nodes-base.merge',
  'n8n-nodes-base.compareDatasets',
]);

interface OfVersions {
  before: string[];
  since: string[];
}

/** Parameters that a type has only before its version 3, or only since then. */
const OF_VERSIONS = new Map<string, OfVersions>([
  ['n8n-nodes-base.set', { before: ['values', 'keepOnlySet'], since: ['assignments', 'fields', 'jsonOutput'] }],
  [
    'n8n-nodes-base.httpRequest',
    {
      before: [
        'requestMethod',
        'bodyParametersUi',
        'bodyParametersJson',
        'headerParametersUi',
        'headerParametersJson',
        'queryParametersUi',
        'queryParametersJson',
      ],
      since: ['method', 'sendBody', 'sendHeaders', 'sendQuery', 'jsonBody', 'bodyParameters', 'headerParameters'],
    },
  ],
]);

/** Throws `NotTranslatable`. */
export function translateNode(
  at: NodeTranslation,
  translate: (at: NodeTranslation) => TranslatedNode,
  readsData: boolean,
): TranslatedNode['outputs'] {
  const flows = at.around.flows.flat();
  const isMerge = TYPES_OF_DIFFERING_INPUTS.has(at.node.type);
  const junction = isMerge ? undefined : joinPlaces(at, flows, readsData);
  if (!isMerge && flows.length > 1 && !excludeEachOther(flows)) {
    at.warn('n8n runs this node once for each link that brings data. Here it runs once, after all of them.');
  }
  warnOfOtherVersions(at);
  const translated = translateWithItems(at, translate);
  const entry = junction ?? translated.entry;
  if (junction !== undefined) at.link({ id: junction, handle: null }, translated.entry);
  for (const { source } of flows) at.link(source, entry);
  return ONCE_FOR_EACH.has(at.node.type) ? withEmptyItem(at, translated.outputs) : translated.outputs;
}

/** Kinds of nodes whose translation has already put an empty item in the place of none. */
const FILLED_KINDS: ReadonlySet<NodeKind> = new Set(['code', 'switch', 'loop']);

/**
 * Returns the outputs of a node that calls another system. If n8n always outputs data, an added node puts one empty
 * item in the place of a list without items.
 */
function withEmptyItem(at: NodeTranslation, outputs: TranslatedNode['outputs']): TranslatedNode['outputs'] {
  const [output, ...others] = outputs;
  const [source] = output?.sources ?? [];
  if (!isAlwaysFilled(at) || output === undefined || output.place.items === undefined) return outputs;
  if (source === undefined || FILLED_KINDS.has(at.kindOf(source.id))) return outputs;
  // n8n does not execute a node without items.
  const from = at.isForEach ? (templateAt(at.json, []) ?? {}) : {};
  const inputs = { json: templateAt(output.place, []) ?? null, from };
  const isEmpty = 'made.length === 0 && itemsOf(inputs.from).length > 0';
  const returns = `((made) => (${isEmpty} ? [{}] : made))(itemsOf(inputs.json))`;
  const id = addData(at, { parts: [], returns, failing: null, fills: false, keepsItems: false, inputs }, 'filled');
  for (const each of output.sources) at.link(each, id);
  return [{ sources: [{ id, handle: null }], place: { ...listPlace(at, id), row: rowOf(output.place) } }, ...others];
}

const MAX_ITEMS = 10_000;

/** Returns the translated node with its settings. A node of `ONCE_FOR_EACH` runs for each of several items. */
function translateWithItems(at: NodeTranslation, translate: Translate): TranslatedNode {
  if (ONCE_FOR_EACH.has(at.node.type) && at.json.items !== undefined) return translateForEach(at, translate);
  const translated = translate(at);
  const outputs = withSettings(at, translated);
  if (at.preparedId === undefined) return { ...translated, outputs };
  warnOfPrepared(at);
  const before = addData(
    at,
    {
      parts: [],
      parameters: Object.fromEntries(at.prepared),
      returns: 'parametersOf(0)',
      failing: null,
      fills: false,
      keepsItems: false,
    },
    'parameters',
    at.preparedId,
  );
  at.link({ id: before, handle: null }, translated.entry);
  return { ...translated, outputs, entry: before };
}

function translateForEach(at: NodeTranslation, translate: Translate): TranslatedNode {
  const outer = at.json;
  const loop = at.around.draft.newId(`${at.around.id}-each`);
  at.json = { ...wholePlace(`${loop}.item.json`, `${loop}.item.json`, outer.order), row: rowOf(outer) };
  at.preparedAt = `${loop}.item.parameters`;
  at.isForEach = true;
  const translated = translate(at);
  if (at.hasBody && at.around.loopsAround + 2 > MAX_DEPTH) throw new NotTranslatable('it is nested too deeply');
  const place = translated.outputs[0]?.place ?? outer;
  const id = translated.main ?? translated.entry;
  const onError = onErrorOf(at);
  applyRetries(at, translated.called ?? id);
  if (onError !== undefined) at.change(id, { on_error: 'continue' });
  warnOfErrors(at, onError);
  warnOfPrepared(at);
  const json = templateAt(place, []) ?? null;
  const error = `{{ ${id}.error.message }}`;
  at.json = outer;
  const items = addData(
    at,
    {
      parts: [],
      parameters: Object.fromEntries(at.prepared),
      returns: 'items.map((json, index) => ({ json, parameters: parametersOf(index) }))',
      failing: null,
    },
    'items',
  );
  const output = onError === undefined ? json : { json, error, item: `{{ ${loop}.item.json }}` };
  at.add(
    'for_each',
    { items: `{{ ${items}.result.value }}`, max_items: MAX_ITEMS, concurrency: 1, output },
    'each item',
    loop,
  );
  at.link({ id: items, handle: null }, loop);
  at.link({ id: loop, handle: 'body' }, translated.entry);
  const made = wholePlace(`${loop}.result.items`, `${loop}.result.content`, at.around.order);
  const row = place.items === undefined ? { row: rowOf(outer) } : {};
  const list: JsonPlace = { ...made, items: 'several', ...row };
  if (onError === undefined) return { entry: items, outputs: [{ sources: [{ id: loop, handle: null }], place: list }] };
  return { entry: items, outputs: outputsAfterErrors(at, loop, onError) };
}

/** A failed item is replaced by its error at the ordinary output; the output for errors gets both. */
function outputsAfterErrors(
  at: NodeTranslation,
  loop: string,
  onError: 'continue' | 'branch',
): TranslatedNode['outputs'] {
  const isBranch = onError === 'branch';
  const results = addOutputs(
    at,
    isBranch ? 2 : 1,
    {
      parts: [RESULTS],
      returns: isBranch ? '[succeeded(items), failed(items)]' : '[results(items)]',
      inputs: { json: `{{ ${loop}.result.items }}`, isObject: hasErrorObject(at) },
    },
    { note: 'results' },
  );
  at.link({ id: loop, handle: null }, results.entry);
  return results.outputs;
}

type OnError = 'continue' | 'branch';

function onErrorOf({ node: { settings } }: NodeTranslation): OnError | undefined {
  if (settings['onError'] === 'continueErrorOutput') return 'branch';
  const goesOn = settings['onError'] === undefined && settings['continueOnFail'] === true;
  return goesOn || settings['onError'] === 'continueRegularOutput' ? 'continue' : undefined;
}

/** n8n ignores parameters that the node's version doesn't have. */
function warnOfOtherVersions(at: NodeTranslation): void {
  const ofVersions = OF_VERSIONS.get(at.node.type);
  if (ofVersions === undefined) return;
  const { version } = at.node;
  const others = version < 3 ? ofVersions.since : ofVersions.before;
  const names = others.filter((name) => at.parameters[name] !== undefined);
  if (names.length === 0) return;
  const its =
    version === Infinity ? 'the newest version, which n8n takes for a node without one' : `its version ${version}`;
  at.warn(`These parameters are none of ${its}, and were left out: ${names.join(', ')}.`);
}

/**
 * Adds a node that joins the data if this node reads data from several places. Returns the id of the added node, or
 * undefined if none was added. If one of the places cannot be read, none is added and that place becomes `at.json`.
 */
function joinPlaces(at: NodeTranslation, flows: readonly Flow[], readsData: boolean): string | undefined {
  const places = placesOf(flows);
  if (places.length < 2 || !readsData) return undefined;
  const unreadable = places.find(({ readings }) => readings.length === 0);
  if (unreadable !== undefined) {
    at.json = unreadable;
    return undefined;
  }
  const { entry, outputs } = addJunction(at, flows, 'input');
  at.json = outputs[0]!.place;
  return entry;
}

const MAX_ATTEMPTS = 10;

/** Applies n8n's settings for retries and failures. Returns the outputs, with that for errors if a node follows it. */
function withSettings(at: NodeTranslation, translated: TranslatedNode): TranslatedNode['outputs'] {
  const id = translated.main ?? translated.entry;
  const onError = onErrorOf(at);
  applyRetries(at, translated.called ?? id);
  if (onError !== undefined) at.change(id, { on_error: onError });
  warnOfErrors(at, onError);
  if (onError === 'continue' && ONCE_FOR_EACH.has(at.node.type)) return [resultAfterErrors(at, id, translated)];
  if (onError !== 'branch') return translated.outputs;
  const count = Math.max(1, translated.outputs.length);
  return [...translated.outputs, ...(at.around.leadsOn(count) ? [errorOutput(at, id)] : [])];
}

/** Returns the only output: the items of the node, or one item with the error. */
function resultAfterErrors(
  at: NodeTranslation,
  id: string,
  { outputs: [output] }: TranslatedNode,
): TranslatedNode['outputs'][number] {
  const place = output?.place ?? at.json;
  const list = "inputs.error === '' ? itemsOf(inputs.json) : [{ error: toError(inputs.error) }]";
  const result = addData(
    at,
    {
      parts: [RESULTS],
      returns: place.items === undefined ? `(${list})[0]` : list,
      failing: null,
      inputs: {
        json: templateAt(place, []) ?? null,
        error: `{{ ${id}.error.message }}`,
        isObject: hasErrorObject(at),
      },
    },
    'result',
  );
  for (const source of output?.sources ?? []) at.link(source, result);
  const made = place.items === undefined ? at.resultPlace(result) : listPlace(at, result);
  return { sources: [{ id: result, handle: null }], place: { ...made, row: rowOf(place) } };
}

/** Returns the output for errors: the incoming items, each with the error. */
function errorOutput(at: NodeTranslation, id: string): TranslatedNode['outputs'][number] {
  if (hasItemErrors(at))
    at.warn('n8n sends only the items that failed to the output for errors. Here all items go there if one fails.');
  const inputs = { error: `{{ ${id}.error.message }}`, isObject: hasErrorObject(at) };
  const returns = 'items.map((json) => ({ ...json, error: toError(inputs.error) }))';
  const error = addData(at, { parts: [RESULTS], returns, inputs, failing: 'items' }, 'error');
  at.link({ id, handle: 'error' }, error);
  return { sources: [{ id: error, handle: null }], place: { ...listPlace(at, error), row: rowOf(at.json) } };
}

function warnOfErrors(at: NodeTranslation, onError: OnError | undefined): void {
  if (onError === undefined || !hasErrorObject(at)) return;
  if (at.around.leadsOn(0) || at.around.leadsOn(1))
    at.warn('The error of an item has its message here, and no other field of n8n.');
}

/** Warns of parameters whose error n8n continues after, but which another node computes here. */
function warnOfPrepared(at: NodeTranslation): void {
  const isJson = [...at.prepared.values()].some((parameter) => parameter instanceof JsonText);
  if (isJson && onErrorOf(at) !== undefined)
    at.warn('If a parameter is no valid JSON, the run fails here: another node computes it before this one.');
}

/** True if n8n outputs the error of the node as an object with fields. For other nodes it outputs only the message. */
function hasErrorObject({ node }: NodeTranslation): boolean {
  return node.type === 'n8n-nodes-base.httpRequest';
}

/** True if several items may come in, of which only some may fail. Never true for Code, Merge and Compare Datasets. */
function hasItemErrors({ node, json }: NodeTranslation): boolean {
  return json.items !== undefined && node.type !== 'n8n-nodes-base.code' && !TYPES_OF_DIFFERING_INPUTS.has(node.type);
}

function applyRetries(at: NodeTranslation, id: string): void {
  const { settings } = at.node;
  const { runs } = traitsOf(at.kindOf(id));
  if (settings['retryOnFail'] !== true || runs === 'inline' || runs === 'wait') return;
  const tries = Math.trunc(numberOf(settings['maxTries']) ?? 3);
  const waitMs = numberOf(settings['waitBetweenTries']) ?? 1000;
  const retry = {
    max_attempts: Math.max(1, Math.min(tries, MAX_ATTEMPTS)),
    delay: Math.max(0, Math.min(waitMs / 1000, 3600)),
    backoff: 1,
  };
  at.change(id, { retry });
}

type Translate = (at: NodeTranslation) => TranslatedNode;

export const translations: Readonly<Record<string, Translate>> = {
  'n8n-nodes-base.httpRequest': translateHttpRequest,
  'n8n-nodes-base.if': translateIf,
  'n8n-nodes-base.filter': translateFilter,
  'n8n-nodes-base.switch': translateSwitch,
  'n8n-nodes-base.set': translateSet,
  'n8n-nodes-base.noOp': translateNoOp,
  'n8n-nodes-base.merge': translateMerge,
  'n8n-nodes-base.code': translateCode,
  'n8n-nodes-base.function': translateFunction,
  'n8n-nodes-base.functionItem': translateFunctionItem,
  'n8n-nodes-base.wait': translateWait,
  'n8n-nodes-base.stopAndError': translateStop,
  'n8n-nodes-base.respondToWebhook': translateResponse,
  'n8n-nodes-base.executeWorkflow': translateCall,
  [LOOP_TYPE]: translateLoop,
  [SPLIT_OUT_TYPE]: translateSplitOut,
  'n8n-nodes-base.itemLists': translateItemLists,
  'n8n-nodes-base.aggregate': translateAggregate,
  'n8n-nodes-base.limit': translateLimit,
  'n8n-nodes-base.sort': translateSort,
  'n8n-nodes-base.removeDuplicates': translateRemoveDuplicates,
  'n8n-nodes-base.summarize': translateSummarize,
  'n8n-nodes-base.dateTime': translateDateTime,
  'n8n-nodes-base.renameKeys': translateRenameKeys,
  'n8n-nodes-base.compareDatasets': translateCompareDatasets,
  'n8n-nodes-base.html': translateHtml,
  'n8n-nodes-base.htmlExtract': translateHtmlExtract,
  'n8n-nodes-base.markdown': translateMarkdown,
  'n8n-nodes-base.xml': translateXml,
  'n8n-nodes-base.crypto': translateCrypto,
  'n8n-nodes-base.extractFromFile': translateExtractFromFile,
  'n8n-nodes-base.convertToFile': translateConvertToFile,
  'n8n-nodes-base.readPDF': translateReadPdf,
  'n8n-nodes-base.openAi': translateFirstOpenAi,
  '@n8n/n8n-nodes-langchain.openAi': translateOpenAi,
  '@n8n/n8n-nodes-langchain.chainLlm': translateChain,
  '@n8n/n8n-nodes-langchain.agent': translateAgent,
  ...Object.fromEntries(Object.keys(services).map((type) => [type, translateService])),
};

export function translationOf(type: string): Translate | undefined {
  return Object.hasOwn(translations, type) ? translations[type] : undefined;
}
