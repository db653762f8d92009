// The steps that every node's translation shares: its incoming links, and its settings for retries and failures.
import type { JsonObject } from '../graph/json.js';
import { traitsOf } from '../graph/kinds.js';
import { translateAgent, translateChain, translateFirstOpenAi, translateOpenAi } from './models.js';
import { translateCall, translateStop, translateWait } from './control.js';
import { translateCode, translateFunction, translateFunctionItem } from './code.js';
import { translateFilter, translateIf, translateSwitch } from './decisions.js';
import { excludeEachOther, placesOf, type Flow } from './flows.js';
import { translateHttpRequest } from './http-request.js';
import { translateAggregate, translateItemLists, translateLimit, translateLoop, translateSplitOut } from './lists.js';
import { addJunction, translateMerge } from './merge.js';
import { numberOf, LOOP_TYPE, SPLIT_OUT_TYPE } from './n8n-file.js';
import type { NodeTranslation, TranslatedNode } from './node-translation.js';
import type { JsonPlace } from './json-places.js';
import { translateNoOp, translateResponse, translateSet } from './values.js';

/** Types that n8n runs once for each item. Here they run once. */
const ONCE_FOR_EACH: ReadonlySet<string> = new Set([
  'n8n-nodes-base.httpRequest',
  'n8n-nodes-base.openAi',
  '@n8n/n8n-nodes-langchain.openAi',
  '@n8n/n8n-nodes-langchain.chainLlm',
  '@n8n/n8n-nodes-langchain.agent',
]);
const MERGE_TYPE = 'n8n-nodes-base.merge';

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
  const isMerge = at.node.type === MERGE_TYPE;
  const junction = isMerge ? undefined : joinPlaces(at, flows, readsData);
  if (!isMerge && flows.length > 1 && !excludeEachOther(flows)) {
    at.warn('n8n runs this node once for each link that brings data. Here it runs once, after all of them.');
  }
  if (ONCE_FOR_EACH.has(at.node.type)) at.warnOfItems();
  warnOfOtherVersions(at);
  const translated = translate(at);
  const entry = junction ?? translated.entry;
  if (junction !== undefined) at.link({ id: junction, handle: null }, translated.entry);
  for (const { source } of flows) at.link(source, entry);
  return withSettings(at, translated);
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

/** Adds a node that joins the data if it comes from several places. Returns its id, or undefined if none was added. */
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

/** Applies n8n's settings for retries and failures, and adds the output for errors. */
function withSettings(at: NodeTranslation, translated: TranslatedNode): TranslatedNode['outputs'] {
  const { settings } = at.node;
  const id = translated.main ?? translated.entry;
  const kind = at.kindOf(id);
  const changes: JsonObject = {};
  const { runs } = traitsOf(kind);
  if (settings['retryOnFail'] === true && runs !== 'inline' && runs !== 'wait') changes['retry'] = retryOf(settings);
  const onError = settings['onError'] ?? (settings['continueOnFail'] === true ? 'continueRegularOutput' : undefined);
  if (onError === 'continueRegularOutput') changes['on_error'] = 'continue';
  if (onError === 'continueErrorOutput') changes['on_error'] = 'branch';
  at.change(id, changes);
  if (onError !== 'continueErrorOutput') return translated.outputs;
  return [...translated.outputs, { sources: [{ id, handle: 'error' }], place: errorPlace(at, id) }];
}

function retryOf(settings: JsonObject): JsonObject {
  const tries = Math.trunc(numberOf(settings['maxTries']) ?? 3);
  const waitMs = numberOf(settings['waitBetweenTries']) ?? 1000;
  return {
    max_attempts: Math.max(1, Math.min(tries, MAX_ATTEMPTS)),
    delay: Math.max(0, Math.min(waitMs / 1000, 3600)),
    backoff: 1,
  };
}

/** Returns the place of the error output: the incoming item, plus the error. */
function errorPlace(at: NodeTranslation, id: string): JsonPlace {
  const message = `${id}.error.message`;
  const readings = [
    { path: ['error', 'message'], variable: message },
    { path: ['error'], variable: message },
    ...at.json.readings,
  ];
  return { readings, ran: `${id}.error.code`, order: at.around.order };
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
  'n8n-nodes-base.openAi': translateFirstOpenAi,
  '@n8n/n8n-nodes-langchain.openAi': translateOpenAi,
  '@n8n/n8n-nodes-langchain.chainLlm': translateChain,
  '@n8n/n8n-nodes-langchain.agent': translateAgent,
};

export function translationOf(type: string): Translate | undefined {
  return Object.hasOwn(translations, type) ? translations[type] : undefined;
}
