// Translates all versions of HTTP Request.
import { isObject, ownValue, type JsonObject } from '../graph/json.js';
import { toHttpMethod } from '../graph/nodes/http.js';
import { credentialLiteralsOf, isCredentialHeader } from '../graph/credential-headers.js';
import { fromEntries } from './draft.js';
import { addFile } from './files.js';
import { asText, holdsUnstorableText, translateParameter } from './expressions.js';
import { locatedValue, numberOf, objectOf, objectsOf, textOf, valueAt, wellFormed } from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { wholePlace, type JsonPlace } from './json-places.js';
import { addPage, closePages, readPaging, type Page, type Paging } from './pages.js';

interface RequestParts {
  method: unknown;
  query: JsonObject[];
  headers: JsonObject[];
  body: unknown;
  contentType: string | undefined;
  options: JsonObject;
  isWhole: boolean;
  format: string;
  ignoresStatus: boolean;
}

const QUERY_CODE = [
  'const pairs = Object.entries(inputs.query).map(([name, value]) => {',
  "  const text = value !== null && typeof value === 'object' ? JSON.stringify(value) : String(value ?? '');",
  '  return `${encodeURIComponent(name)}=${encodeURIComponent(text)}`;',
  '});',
  "return (String(inputs.address).includes('?') ? '&' : '?') + pairs.join('&');",
].join('\n');

const KNOWN_OPTIONS = new Set([
  'timeout',
  'response',
  'redirect',
  'batching',
  'fullResponse',
  'ignoreResponseCode',
  'bodyContentType',
  'bodyContentCustomMimeType',
  'followRedirect',
  'followAllRedirects',
  'splitIntoItems',
  'lowercaseHeaders',
  'pagination',
]);
const MAX_TIMEOUT_SECONDS = 300;

export function translateHttpRequest(at: NodeTranslation): TranslatedNode {
  const parts = at.node.version >= 3 ? readParts(at) : readOldParts(at);
  const method = typeof parts.method === 'string' ? parts.method : 'GET';
  if (!method.startsWith('=') && toHttpMethod(method) === undefined)
    throw new NotTranslatable(`the method "${method}" is not known`);
  for (const option of Object.keys(parts.options).filter((name) => !KNOWN_OPTIONS.has(name))) {
    at.warn(`options.${option} has no equivalent and was left out.`);
  }
  warnOfRedirects(at, parts.options);
  warnOfBatches(at, parts.options);
  if (parts.isWhole) at.warn('The whole answer has no statusMessage here.');
  const paging = at.node.version >= 3 ? readPaging(at) : undefined;
  const address = at.text(at.parameters['url'], 'url');
  if (paging === undefined || parts.format === 'file') {
    if (paging !== undefined) at.warn('options.pagination was left out, because the answer is a file.');
    const { entry, id } = addRequest(at, method, address, parts);
    if (parts.format === 'file') return { ...addFile(at, id, propertyOf(at, parts), wholeFile(parts)), entry };
    return { ...oneWay(id, placeOf(at, id, parts)), entry, main: id };
  }
  if (at.node.settings['retryOnFail'] === true)
    at.warn('n8n repeats all pages after an error. Here a page is repeated that had no answer.');
  const page = addPage(at, paging, address);
  const { entry, id } = addRequest(at, method, page.url ?? address, ofPage(parts, paging, page));
  at.link({ id: page.before, handle: null }, entry);
  const { format, isWhole } = parts;
  return closePages(at, paging, page, { request: id, format, isWhole, property: propertyOf(at, parts) });
}

/** Warns if the file says that redirects are not followed, or how many at most: here up to five are followed. */
function warnOfRedirects(at: NodeTranslation, options: JsonObject): void {
  const { version } = at.node;
  const redirect = objectOf(valueAt(options, 'redirect', 'redirect'));
  const isSet = options['redirect'] !== undefined;
  const follows = version < 3 ? options['followRedirect'] : isSet ? redirect['followRedirects'] : true;
  if (follows === false || (follows === undefined && version >= 3 && version < 4))
    at.warn('options.redirect: n8n does not follow redirects of this request. Here it follows up to five.');
  else if (redirect['maxRedirects'] !== undefined && redirect['maxRedirects'] !== 5)
    at.warn('options.redirect: the number of redirects was left out. Here a request follows up to five.');
}

/** Warns if n8n pauses between the requests of several items. */
function warnOfBatches(at: NodeTranslation, options: JsonObject): void {
  const batch = objectOf(valueAt(options, 'batching', 'batch'));
  if (!at.isForEach || options['batching'] === undefined || (batch['batchInterval'] ?? 1000) === 0) return;
  at.warn('options.batching: the pauses between requests were left out. Here they are sent one after the other.');
}

/** Adds the request, and the node that computes its query if one is needed. */
function addRequest(
  at: NodeTranslation,
  method: string,
  address: string,
  parts: RequestParts,
): { entry: string; id: string } {
  const headers = readHeaders(at, parts);
  const { url, before } = addressOf(at, address, parts.query);
  const timeout = numberOf(parts.options['timeout']);
  const id = at.add('http', {
    method: at.text(method, 'method'),
    url,
    headers,
    ...(parts.body !== undefined && { body: parts.body }),
    settings: {
      timeout:
        timeout === undefined ? MAX_TIMEOUT_SECONDS : Math.max(0.1, Math.min(timeout / 1000, MAX_TIMEOUT_SECONDS)),
      ...(parts.format === 'file' && { response: 'file' }),
      ...(parts.ignoresStatus && { fail_on_status: false }),
      ...(at.node.settings['retryOnFail'] === true && { retry_unsafe: true }),
    },
  });
  if (before !== undefined) at.link({ id: before, handle: null }, id);
  return { entry: before ?? id, id };
}

/** Returns the request of a page. No status makes the request fail: an error status may mark the end of the pages. */
function ofPage(parts: RequestParts, { changes }: Paging, { values }: Page): RequestParts {
  const changed = { ...parts, ignoresStatus: true };
  for (const [index, { place, name }] of changes.entries()) {
    const translated = values[index];
    if (place === 'body') {
      const body = isObject(changed.body) ? changed.body : {};
      const form = ownValue(body, '$form');
      changed.body = isObject(form)
        ? { $form: fromEntries([...Object.entries(form), [name, translated]]) }
        : fromEntries([...Object.entries(body), [name, translated]]);
    } else {
      changed[place] = [...changed[place].filter((pair) => pair['name'] !== name), { name, translated }];
    }
  }
  return changed;
}

/** Returns the field of the item that gets the text or the file of an answer. */
function propertyOf({ parameters }: NodeTranslation, { options }: RequestParts): string {
  const given = valueAt(options, 'response', 'response', 'outputPropertyName') ?? parameters['dataPropertyName'];
  return textOf(given) ?? 'data';
}

/** Returns the expression for the item if the node outputs the whole answer. */
function wholeFile({ isWhole }: RequestParts): string | undefined {
  return isWhole ? '{ headers: inputs.answer.headers, statusCode: inputs.answer.statusCode }' : undefined;
}

function placeOf(at: NodeTranslation, id: string, parts: RequestParts): JsonPlace {
  const { isWhole, format } = parts;
  const { order } = at.around;
  const ran = `${id}.result.status_code`;
  const property = propertyOf(at, parts);
  const body = format === 'text' || format === 'string' ? `${id}.result.content` : `${id}.result.json`;
  if (isWhole) {
    const bodyPath = format === 'text' ? property : 'body';
    const readings = [
      { path: [bodyPath], variable: body },
      { path: ['headers'], variable: `${id}.result.headers` },
      { path: ['statusCode'], variable: `${id}.result.status_code` },
    ];
    return { readings, ran, order, gap: 'of an answer there are the body, the headers and the status code' };
  }
  if (format === 'text' || format === 'string') {
    return { readings: [{ path: [property], variable: body }], ran, order, gap: 'the answer is one text' };
  }
  const place: JsonPlace = { ...wholePlace(body, ran, order), items: 'unknown' };
  return format === 'autodetect' ? { ...place, text: `${id}.result.content` } : place;
}

function readParts(at: NodeTranslation): RequestParts {
  const { parameters } = at;
  const options = objectOf(parameters['options']);
  const response = objectOf(valueAt(options, 'response', 'response'));
  const format = textOf(response['responseFormat']) ?? 'autodetect';
  const { body, contentType } =
    parameters['sendBody'] === true ? readBody(at) : { body: undefined, contentType: undefined };
  return {
    method: parameters['method'] ?? 'GET',
    query: parameters['sendQuery'] === true ? readPairs(at, 'Query', 'queryParameters', 'jsonQuery') : [],
    headers: parameters['sendHeaders'] === true ? readPairs(at, 'Headers', 'headerParameters', 'jsonHeaders') : [],
    body,
    contentType,
    options,
    isWhole: response['fullResponse'] === true,
    format,
    ignoresStatus: response['neverError'] === true,
  };
}

function readPairs(at: NodeTranslation, what: string, list: string, json: string): JsonObject[] {
  if (at.parameters[`specify${what}`] !== 'json') return objectsOf(valueAt(at.parameters, list, 'parameters'));
  return pairsOfJson(at, json);
}

/** Reads the names and the translated values from a parameter with JSON text. */
function pairsOfJson(at: NodeTranslation, field: string): JsonObject[] {
  const parameter = at.parameters[field];
  if (parameter === undefined || parameter === '') return [];
  const read = at.jsonText(parameter, field);
  if (!isObject(read)) throw new NotTranslatable(`${field} is no JSON object that can be translated`);
  return Object.entries(read).map(([name, translated]) => ({ name, translated }));
}

function readBody(at: NodeTranslation): Pick<RequestParts, 'body' | 'contentType'> {
  const { parameters } = at;
  const contentType = textOf(parameters['contentType']) ?? 'json';
  if (contentType === 'raw') {
    return { body: at.text(parameters['body'], 'body'), contentType: textOf(parameters['rawContentType']) };
  }
  if (contentType === 'binaryData')
    return { body: { $file: fileIn(at, parameters['inputDataFieldName']) }, contentType: undefined };
  if (contentType === 'multipart-form-data') return { body: { $form: partsOf(at) }, contentType: undefined };
  const isForm = contentType === 'form-urlencoded';
  if (!isForm && contentType !== 'json')
    throw new NotTranslatable(`a body of the type "${contentType}" has no equivalent`);
  const form = isForm ? 'application/x-www-form-urlencoded' : undefined;
  const specified = parameters['specifyBody'] ?? 'keypair';
  if (specified === 'string') return { body: at.text(parameters['body'], 'body'), contentType: form };
  if (specified === 'json') return { body: readJsonBody(at, 'jsonBody'), contentType: form };
  return {
    body: objectOfPairs(at, objectsOf(valueAt(parameters, 'bodyParameters', 'parameters')), 'body'),
    contentType: form,
  };
}

function partsOf(at: NodeTranslation): JsonObject {
  const pairs = objectsOf(valueAt(at.parameters, 'bodyParameters', 'parameters')).map((pair) => {
    if (pair['parameterType'] !== 'formBinaryData') return pair;
    return { name: pair['name'], translated: fileIn(at, pair['inputDataFieldName']) };
  });
  return objectOfPairs(at, pairs, 'body');
}

/** Returns a variable for the file, which is in a field of the item. */
function fileIn(at: NodeTranslation, field: unknown): unknown {
  const name = textOf(field) ?? '';
  if (name === '' || name.startsWith('=')) throw new NotTranslatable('which file it sends is known only when it runs');
  return at.value(`={{ $json[${JSON.stringify(name)}] }}`, 'body');
}

function readJsonBody(at: NodeTranslation, field: string): unknown {
  const parameter = at.parameters[field];
  if (parameter === undefined || parameter === '') return undefined;
  const body = at.jsonText(parameter, field);
  if (body === undefined) throw new NotTranslatable(`${field} is no JSON that can be translated`);
  return body;
}

function readOldParts(at: NodeTranslation): RequestParts {
  const { parameters } = at;
  const options = objectOf(parameters['options']);
  const isJson = parameters['jsonParameters'] === true;
  const listed = (name: string): JsonObject[] => objectsOf(valueAt(parameters, `${name}ParametersUi`, 'parameter'));
  const type = textOf(options['bodyContentType']) ?? 'json';
  const method = parameters['requestMethod'] ?? 'GET';
  const hasBody = method !== 'GET' && method !== 'HEAD';
  if (hasBody && type !== 'json' && type !== 'form-urlencoded')
    throw new NotTranslatable(`a body of the type "${type}" has no equivalent`);
  const ownBody = isJson ? readJsonBody(at, 'bodyParametersJson') : objectOfPairs(at, listed('body'), 'body');
  const isEmptyBody = isObject(ownBody) && Object.keys(ownBody).length === 0;
  return {
    method,
    query: isJson ? pairsOfJson(at, 'queryParametersJson') : listed('query'),
    headers: isJson ? pairsOfJson(at, 'headerParametersJson') : listed('header'),
    body: hasBody && !isEmptyBody ? ownBody : undefined,
    contentType: hasBody && type === 'form-urlencoded' ? 'application/x-www-form-urlencoded' : undefined,
    options,
    isWhole: options['fullResponse'] === true,
    format: textOf(parameters['responseFormat']) ?? 'json',
    ignoresStatus: options['ignoreResponseCode'] === true,
  };
}

function objectOfPairs(at: NodeTranslation, pairs: readonly JsonObject[], field: string): JsonObject {
  return fromEntries(
    pairs.flatMap((pair): [string, unknown][] => {
      const name = nameOf(at, pair, field);
      return name === '' ? [] : [[name, valueOf(at, pair, `${field}.${name}`)]];
    }),
  );
}

/** Refuses a name that is known only at run time, because variables are not filled in within names. */
function nameOf(at: NodeTranslation, { name }: JsonObject, field: string): string {
  if (typeof name !== 'string') return '';
  if (!name.startsWith('=')) return name;
  const text = at.text(name, `${field}: name`);
  if (text.includes('{{')) throw new NotTranslatable(`the name of a parameter in ${field} is an expression`);
  return text;
}

function valueOf(at: NodeTranslation, pair: JsonObject, field: string): unknown {
  return Object.hasOwn(pair, 'translated') ? pair['translated'] : at.value(pair['value'], field);
}

function readHeaders(at: NodeTranslation, { headers: pairs, contentType }: RequestParts): JsonObject {
  const headers = new Map<string, string>();
  for (const pair of pairs) {
    const name = nameOf(at, pair, 'headers');
    if (name === '') continue;
    // Nothing is computed for credentials, because the text around an expression may be a part of them.
    const isComputed = isCredentialHeader(name) && translateParameter(pair['value'], at.names).problems.length > 0;
    const value = isComputed ? '' : asText(valueOf(at, pair, `headers.${name}`));
    headers.set(name, value);
    if (!isComputed && !isLiteralCredential(name, value)) continue;
    headers.set(name, '');
    at.warn(`Fill in the header "${name}": credentials are not taken over.`, at.node, { field: 'connection' });
  }
  const lower = new Set([...headers.keys()].map((name) => name.toLowerCase()));
  if (contentType !== undefined && contentType !== '' && !lower.has('content-type'))
    headers.set('Content-Type', contentType);
  const credential = credentialOf(at);
  if (credential !== undefined && !lower.has('authorization')) headers.set('Authorization', '');
  if (credential !== undefined) at.warn(credential, at.node, { field: 'connection' });
  return fromEntries(headers);
}

/** Returns the warning about credentials, or undefined if there are none. n8n stores credentials outside its files. */
function credentialOf({ node, parameters }: NodeTranslation): string | undefined {
  const authentication = locatedValue(parameters['authentication']) ?? 'none';
  if (authentication === 'none' && !node.hasCredentials) return undefined;
  const kind =
    textOf(parameters['genericAuthType']) ?? textOf(parameters['nodeCredentialType']) ?? textOf(authentication);
  return `Fill in the header "Authorization", or whichever the server asks for: the credentials (${kind ?? 'unknown'}) are not taken over.`;
}

/**
 * Returns the address with its query. Values with variables are encoded by an added node, because variables in an
 * address are not encoded.
 */
function addressOf(
  at: NodeTranslation,
  url: string,
  pairs: readonly JsonObject[],
): { url: string; before: string | undefined } {
  const query = objectOfPairs(at, pairs, 'query');
  if (Object.keys(query).length === 0) return { url, before: undefined };
  // A variable in an address may bring a query of its own.
  const isKnown = url.includes('?') || !url.includes('{{');
  const isLiteral = Object.values(query).every((value) => !JSON.stringify(value ?? null).includes('{{'));
  if (isKnown && isLiteral && !holdsUnstorableText(query)) {
    const text = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(asText(value))}`);
    return { url: `${url}${url.includes('?') ? '&' : '?'}${text.join('&')}`, before: undefined };
  }
  const before = at.add('code', { code: QUERY_CODE, inputs: { address: url, query } }, 'query');
  return { url: `${url}{{ ${before}.result.value }}`, before };
}

/** `encodeURIComponent` throws for half a surrogate pair. */
function encode(text: string): string {
  return encodeURIComponent(wellFormed(text));
}

/** True if a header of the file is a credential whose value contains more than variables and a scheme. */
function isLiteralCredential(name: string, value: string): boolean {
  return isCredentialHeader(name) && credentialLiteralsOf(value).length > 0;
}
