// Translates the pages of HTTP Request to a loop, whose body computes and sends the request of a page, and takes the
// items of the page.
import type { JsonObject } from '../graph/json.js';
import { addData, isAlwaysFilled } from './data-node.js';
import { objectOf, objectsOf, textOf, valueAt } from './n8n-file.js';
import { wholePlace } from './json-places.js';
import type { NodeTranslation, TranslatedNode } from './node-translation.js';
import { canBeComputed } from './parameter-code.js';
import { readExpression } from './javascript.js';
import { piecesOf } from './expressions.js';
import { PAGES } from './runtime/pages.js';

/** Says how the pages of a node are requested, and when they end. */
export interface Paging {
  /** The parameters that each request sets: where they are, their names, and their values as parameters of n8n. */
  changes: readonly { place: 'query' | 'headers' | 'body'; name: string; value: unknown }[];
  /** The expression for the address of the next page. Undefined if the address does not change. */
  nextUrl: string | undefined;
  ends: Ends;
  statusCodes: readonly number[];
  complete: unknown;
  /** The maximum number of pages. Undefined if only the answers decide which page is the last. */
  limit: unknown;
  /** Milliseconds between requests. */
  interval: unknown;
}

type Ends = 'responseIsEmpty' | 'receiveSpecificStatusCodes' | 'other';

/** Names of n8n that only the parameters of pages have. */
const OF_PAGES: ReadonlySet<string> = new Set(['$response', '$pageCount']);
/** The limit on the rounds of a loop. */
const MAX_PAGES = 1000;
const PLACES: ReadonlyMap<string, 'query' | 'headers' | 'body'> = new Map([
  ['qs', 'query'],
  ['headers', 'headers'],
  ['body', 'body'],
]);

/** Returns undefined for a node without pages, or, with a warning, for pages that cannot be translated. */
export function readPaging(at: NodeTranslation): Paging | undefined {
  const given = objectOf(valueAt(at.parameters, 'options', 'pagination', 'pagination'));
  const mode = textOf(given['paginationMode']) ?? 'updateAParameterInEachRequest';
  if (Object.keys(given).length === 0 || mode === 'off') return undefined;
  const read = readMode(at, mode, given);
  if (typeof read !== 'string') return read;
  at.warn(`options.pagination was left out, so that only the first page is requested: ${read}.`);
  return undefined;
}

/** Returns the reason if the pages cannot be translated. */
function readMode(at: NodeTranslation, mode: string, given: JsonObject): Paging | string {
  const ends = textOf(given['paginationCompleteWhen']) ?? 'responseIsEmpty';
  if (!isEnd(ends)) return `it ends in the way "${ends}"`;
  const complete = textOf(given['completeExpression']);
  if (ends === 'other' && complete?.startsWith('=') !== true) return 'the expression for its end is missing';
  const isByUrl = mode === 'responseContainsNextURL';
  if (!isByUrl && mode !== 'updateAParameterInEachRequest') return `its mode is "${mode}"`;
  const nextUrl = textOf(given['nextURL']) ?? '';
  if (isByUrl && !nextUrl.startsWith('=')) return 'the expression for the next address is missing';
  const changes = objectsOf(valueAt(given, 'parameters', 'parameters')).map((each) => ({
    place: PLACES.get(textOf(each['type']) ?? 'qs') ?? 'query',
    name: textOf(each['name']) ?? '',
    value: each['value'] ?? '',
  }));
  if (!isByUrl && changes.length === 0) return 'it changes no parameter';
  if (!isByUrl && changes.some(({ name, value }) => name === '' || name.startsWith('=') || value === ''))
    return 'a parameter has no name or no value';
  const paging: Paging = {
    changes: isByUrl ? [] : changes,
    nextUrl: isByUrl ? nextUrl : undefined,
    ends,
    statusCodes: (textOf(given['statusCodesWhenComplete']) ?? '').split(',').map((code) => Number.parseInt(code, 10)),
    complete: ends === 'other' ? complete : undefined,
    limit: given['limitPagesFetched'] === true ? (given['maxRequests'] ?? 100) : undefined,
    interval: given['requestInterval'] ?? 0,
  };
  const foreign = expressionsOf(paging).find((expression) => !canBeComputed(at, expression, OF_PAGES));
  return foreign === undefined ? paging : `the expression "${foreign.slice(1).trim()}" cannot be evaluated here`;
}

function isEnd(word: string): word is Ends {
  return word === 'responseIsEmpty' || word === 'receiveSpecificStatusCodes' || word === 'other';
}

function expressionsOf({ changes, nextUrl, complete, limit, interval }: Paging): string[] {
  const values = [...changes.map(({ value }) => value), nextUrl, complete, limit, interval];
  return values.filter((value): value is string => typeof value === 'string' && value.startsWith('='));
}

/** The nodes of one round. The caller adds the request between its calls of `addPage` and `closePages`. */
export interface Page {
  loop: string;
  /** The code node with the values of the page, the first of the round. */
  first: string;
  /** The node before the request. */
  before: string;
  /** The variable with the address of the page, if the address changes. */
  url: string | undefined;
  /** The values of `changes`, as variables. */
  values: readonly string[];
}

/** Adds the nodes that compute the request of a page. `url` is the address of the first page. */
export function addPage(at: NodeTranslation, paging: Paging, url: string): Page {
  const loop = at.around.draft.newId(`${at.around.id}-pages`);
  const values = Object.fromEntries(paging.changes.map(({ value }, index) => [`p${index + 1}`, value]));
  const first = addData(
    at,
    {
      parts: [PAGES],
      parameters: { ...values, next: paging.nextUrl, interval: paging.interval },
      own: OF_PAGES,
      before: [
        'const $response = pageBefore(inputs.last).response ?? {};',
        'const $pageCount = Number(inputs.page);',
        'const made = parametersOf(0);',
        // Before the first page there is no answer that could name an address.
        'if ($pageCount > 0 && made.next === "") throw new Error("The address of the next page is empty.");',
      ],
      returns:
        '{ ...made, url: $pageCount === 0 ? inputs.url : (made.next ?? inputs.url), pause: $pageCount === 0 ? 0 : Number(made.interval) / 1000 }',
      failing: null,
      keepsItems: false,
      inputs: { last: `{{ ${loop}.last }}`, page: `{{ ${loop}.index }}`, url },
    },
    'page',
  );
  const variable = (name: string): string => `{{ ${first}.result.value.${name} }}`;
  let before = first;
  if (paging.interval !== 0) {
    before = at.add('wait', { mode: 'duration', seconds: variable('pause') }, 'pause');
    at.link({ id: first, handle: null }, before);
  }
  return {
    loop,
    first,
    before,
    url: paging.nextUrl === undefined ? undefined : variable('url'),
    values: Object.keys(values).map(variable),
  };
}

export interface TakenPage {
  /** The HTTP node. */
  request: string;
  format: string;
  isWhole: boolean;
  /** The field that gets the text of an answer. */
  property: string;
}

/** Adds the node that collects the items of a page, and the loop. */
export function closePages(
  at: NodeTranslation,
  paging: Paging,
  { loop, first }: Page,
  { request, ...how }: TakenPage,
): TranslatedNode {
  const answer = `${request}.result`;
  const fixed = {
    ...how,
    ends: paging.ends,
    statusCodes: paging.statusCodes.filter((code) => !Number.isNaN(code)),
    isFilled: isAlwaysFilled(at) && !at.isForEach,
    keepsAnswer: expressionsOf(paging).some(readsResponse),
  };
  const taken = addData(
    at,
    {
      parts: [PAGES],
      parameters: { limit: paging.limit, complete: paging.complete },
      own: OF_PAGES,
      before: [
        'const $response = answerOf(inputs.answer);',
        'const $pageCount = Number(inputs.page) + 1;',
        `const how = { ...${JSON.stringify(fixed)}, last: pageBefore(inputs.last), count: $pageCount };`,
      ],
      returns: 'takePage(inputs.answer, how, parametersOf(0))',
      failing: null,
      keepsItems: false,
      inputs: {
        last: `{{ ${loop}.last }}`,
        page: `{{ ${loop}.index }}`,
        answer: {
          json: `{{ ${answer}.json }}`,
          text: `{{ ${answer}.content }}`,
          headers: `{{ ${answer}.headers }}`,
          statusCode: `{{ ${answer}.status_code }}`,
        },
      },
    },
    'items of the page',
  );
  at.link({ id: request, handle: null }, taken);
  at.add(
    'loop',
    {
      until: { left: `{{ ${loop}.last.isDone }}`, operator: '==', right: 'true' },
      max_rounds: MAX_PAGES,
      output: `{{ ${taken}.result.value }}`,
    },
    'pages',
    loop,
  );
  at.link({ id: loop, handle: 'body' }, first);
  const items = `${loop}.result.value.items`;
  const place = { ...wholePlace(items, `${loop}.result.content`, at.around.order), items: 'several' as const };
  return { entry: loop, main: loop, called: request, outputs: [{ sources: [{ id: loop, handle: null }], place }] };
}

function readsResponse(expression: string): boolean {
  return piecesOf(expression.slice(1)).some(({ source }) => {
    const read = source === undefined ? undefined : readExpression(source, OF_PAGES);
    return read !== undefined && 'own' in read && read.own.has('$response');
  });
}
