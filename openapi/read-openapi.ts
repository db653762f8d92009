// Reads an OpenAPI document (3.0, 3.1, Swagger 2.0): the actions of its service (docs/use/services.md).
import { toHttpMethod } from '../graph/nodes/http.js';
import type { ActionFacts, ActionField } from '../graph/actions/action.js';
import { cutText } from '../graph/cut-text.js';
import { isObject, ownValue, setOwn, type JsonObject } from '../graph/json.js';
import { copySchema, type SizeBudget } from './copied-schema.js';
import {
  documentationAt,
  entriesAt,
  listAt,
  OpenapiError,
  OperationProblem,
  resolve,
  resolveObject,
  textAt,
  type OpenapiDocument,
} from './document.js';
import { chooseMedia, readBody, readSwaggerBody, type FoundBody } from './body.js';
import { parametersOf, readParameters, type FoundField } from './parameters.js';
import { readSecurity, type Security } from './security.js';
import { documentServer, serverAt, type FoundServer, type ServerRules } from './servers.js';

/** The limit on the operations of a document. The largest documents in use have about ten thousand. */
const MOST_OPERATIONS = 20_000;
/**
 * The limits on the schemas of an action's fields: the number of schemas, and the characters of their JSON text. They
 * are low, because each node with the action stores the fields. The schema of the answer has half of these limits.
 */
const MOST_VALUES = 1_500;
const MOST_CHARACTERS = 36_000;
/**
 * The limit on the schemas of the fields of all actions together, so that they fit into the memory of the process that
 * reads. The schemas of the answers may take half of this limit in addition.
 */
const CHARACTERS_OF_ALL = 24_000_000;
const CHARACTERS_OF_VALUE = 16;
/**
 * The limit on the JSON text of what a node stores of an action. An action beyond it is left out. Many fields with long
 * names can exceed it, because a field keeps its name even if the limit on the schemas leaves nothing of its schema.
 */
const MOST_OF_ACTION = 64_000;
const MOST_DESCRIPTION = 1_024;
const MOST_ID = 200;
const MOST_PATH = 2_000;
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

export interface ReadAction extends ActionFacts {
  /** `[A-Za-z0-9_.-]`, unique in its service. */
  id: string;
  description: string;
  /** The schema of the success answer. Null if there is none (`readResult`). */
  result: JsonObject | null;
  documentation_url: string | null;
}

export interface ServiceWarning {
  /** The id of the operation, or its method and path. Only the path if the path itself cannot be read. */
  operation: string;
  message: string;
}

export interface ReadService {
  name: string;
  description: string;
  version: string;
  documentation_url: string | null;
  connection_kinds: string[];
  actions: ReadAction[];
  warnings: ServiceWarning[];
}

/** Throws `OpenapiError` for a document that cannot be used at all. `value` is parsed JSON or YAML. */
export function readOpenapi(value: unknown, rules: ServerRules): ReadService {
  const document = toDocument(value);
  const { root } = document;
  const info = ownValue(root, 'info');
  if (!isObject(info)) throw new OpenapiError('info', 'an object with the title of the service is missing.');
  const title = textAt(info, 'title', 200);
  if (title === undefined) throw new OpenapiError('info.title', 'the title of the service is missing.');
  const security = readSecurity(document);
  const reading: Reading = {
    document,
    rules,
    security,
    server: documentServer(document, rules),
    actions: new Map(),
    numbers: new Map(),
    warnings: [],
    operations: 0,
    characters: Math.min(MOST_CHARACTERS, CHARACTERS_OF_ALL / Math.max(1, sizeOf(root))),
  };
  readPaths(reading);
  return {
    name: title,
    description: textAt(info, 'description', MOST_DESCRIPTION) ?? '',
    version: textAt(info, 'version', 100) ?? '',
    documentation_url: documentationAt(root),
    connection_kinds: security.connectionKinds,
    actions: [...reading.actions.values()],
    warnings: reading.warnings,
  };
}

function toDocument(root: unknown): OpenapiDocument {
  if (!isObject(root)) throw new OpenapiError('', 'The document is not an object.');
  const [swagger, openapi] = [textAt(root, 'swagger', 20), textAt(root, 'openapi', 20)];
  if (swagger === undefined && openapi === undefined) {
    throw new OpenapiError('openapi', 'the version of OpenAPI is missing: this is not an OpenAPI document.');
  }
  const isSwagger = openapi === undefined;
  if (isSwagger ? /^2(\.0)?$/.test(swagger!) : /^3\.[01](\.|$)/.test(openapi)) return { root, isSwagger };
  const shown = isSwagger ? `"${swagger}"` : `"${openapi}"`;
  throw new OpenapiError(isSwagger ? 'swagger' : 'openapi', `${shown} is not 2.0, 3.0 or 3.1.`);
}

interface Reading {
  document: OpenapiDocument;
  rules: ServerRules;
  security: Security;
  server: FoundServer;
  actions: Map<string, ReadAction>;
  /** The last number that was appended to an id, by the id without a number. */
  numbers: Map<string, number>;
  warnings: ServiceWarning[];
  operations: number;
  /** The limit on the characters in the schemas of each action's fields. */
  characters: number;
}

function budgetOf({ characters }: Reading): SizeBudget {
  return { characters, values: Math.min(MOST_VALUES, characters / CHARACTERS_OF_VALUE) };
}

/** Returns the number of keys of all paths, which is about the number of operations. */
function sizeOf(root: JsonObject): number {
  let size = 0;
  for (const [, item] of entriesAt(root, 'paths')) if (isObject(item)) size += Object.keys(item).length;
  return size;
}

function readPaths(reading: Reading): void {
  const { root } = reading.document;
  const paths = ownValue(root, 'paths');
  if (paths === undefined && textAt(root, 'openapi', 20)?.startsWith('3.1') === true) return;
  if (!isObject(paths)) throw new OpenapiError('paths', 'an object with the operations is missing.');
  for (const [path, given] of Object.entries(paths)) {
    if (path.startsWith('x-')) continue;
    try {
      readPath(reading, path, resolveObject(reading.document, given, 'The path'));
    } catch (error) {
      if (!(error instanceof OperationProblem)) throw error;
      countOperation(reading);
      reading.warnings.push({ operation: cutText(path, MOST_ID), message: error.message });
    }
  }
}

function readPath(reading: Reading, path: string, item: JsonObject): void {
  for (const method of METHODS) {
    const operation = ownValue(item, method);
    if (operation === undefined) continue;
    countOperation(reading);
    const byPlace = cutText(`${method.toUpperCase()} ${path}`, MOST_ID);
    const given = textAt(operation, 'operationId', MOST_ID);
    const known = given === undefined ? undefined : toId(given);
    const isTaken = known !== undefined && reading.actions.has(known);
    const name = given === undefined || isTaken ? byPlace : given;
    try {
      const action = readOperation(reading, { path, item, method, operation });
      const id = known === undefined || isTaken ? freeId(reading, `${method}_${path}`) : known;
      reading.actions.set(id, { ...action, id });
      if (isTaken) {
        const message = `Another operation has the id "${given}", so this one is called "${id}".`;
        reading.warnings.push({ operation: name, message });
      }
    } catch (error) {
      if (!(error instanceof OperationProblem)) throw error;
      reading.warnings.push({ operation: name, message: error.message });
    }
  }
}

function countOperation(reading: Reading): void {
  reading.operations += 1;
  if (reading.operations > MOST_OPERATIONS) {
    throw new OpenapiError('paths', `the document has more than ${MOST_OPERATIONS} operations.`);
  }
}

/** Returns undefined if nothing of the text can be an id. */
function toId(text: string): string | undefined {
  const id = text.replace(/[^A-Za-z0-9_.-]+/g, '_').slice(0, MOST_ID);
  return /[A-Za-z0-9]/.test(id) ? id : undefined;
}

function freeId({ actions, numbers }: Reading, text: string): string {
  const base = (toId(text) ?? 'operation').replace(/_+/g, '_').replace(/_$/, '');
  if (!actions.has(base)) return base;
  const short = base.slice(0, MOST_ID - 7);
  let number = numbers.get(short) ?? 1;
  let id: string;
  do {
    number += 1;
    id = `${short}_${number}`;
  } while (actions.has(id));
  numbers.set(short, number);
  return id;
}

interface GivenOperation {
  path: string;
  item: JsonObject;
  method: string;
  operation: unknown;
}

function readOperation(
  reading: Reading,
  { path: given, item, method, operation }: GivenOperation,
): Omit<ReadAction, 'id'> {
  const { document, security } = reading;
  if (!isObject(operation)) throw new OperationProblem('The operation is not an object.');
  const known = toHttpMethod(method);
  if (known === undefined) throw new OperationProblem(`Requests with ${method.toUpperCase()} cannot be sent.`);
  const path = given.startsWith('/') ? given : `/${given}`;
  if (path.length > MOST_PATH) throw new OperationProblem(`Its path has more than ${MOST_PATH} characters.`);
  const server = serverOf(reading, item, operation);
  const budget = budgetOf(reading);
  const parameters = parametersOf(document, item, operation);
  const ofParameters = readParameters(document, parameters, { security, path, budget });
  const body = document.isSwagger
    ? readSwaggerBody(document, parameters, consumesOf(document, operation), budget)
    : readBody(document, operation, budget);
  const summary = textAt(operation, 'summary', 200);
  const id = textAt(operation, 'operationId', 200);
  const facts = {
    title: summary ?? (id === undefined ? cutText(`${known} ${path}`, 200) : toWords(id)),
    description: textAt(operation, 'description', MOST_DESCRIPTION) ?? '',
    method: known,
    server,
    path,
    has_side_effects: !['GET', 'HEAD', 'OPTIONS'].includes(known),
    fields: toSchema(ofParameters, body),
    ...(body !== undefined && { body: body.body }),
  };
  if (JSON.stringify(facts).length > MOST_OF_ACTION) {
    throw new OperationProblem(`Its fields have more than ${MOST_OF_ACTION} characters.`);
  }
  return {
    ...facts,
    result: readResult(document, operation, budgetOf(reading)),
    documentation_url: documentationAt(operation),
  };
}

/** `listUsers` and `list_users` become `List users`. */
function toWords(id: string): string {
  const words = id
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_./-]+/g, ' ')
    .trim()
    .toLowerCase();
  return words === '' ? id : words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * Returns the server of the operation, else that of its path, else that of the document. If the chosen server cannot be
 * used, throws `OpenapiError` for that of the document, and `OperationProblem` for the others.
 */
function serverOf({ rules, server }: Reading, item: JsonObject, operation: JsonObject): string {
  const own = serverAt(operation, rules) ?? serverAt(item, rules);
  const found = own ?? server;
  if ('server' in found) return found.server;
  if (own === undefined) throw new OpenapiError('servers', `${found.problem}.`);
  throw new OperationProblem(`Its server cannot be used: ${found.problem}.`);
}

function consumesOf({ root }: OpenapiDocument, operation: JsonObject): string[] {
  const owner = ownValue(operation, 'consumes') === undefined ? root : operation;
  return listAt(owner, 'consumes')
    .filter((type): type is string => typeof type === 'string')
    .slice(0, 100);
}

const ORDER = ['path', 'query', 'header', 'body'];

/** Builds the schema of all fields. A field whose name is taken gets its place as a suffix, for example `id_query`. */
function toSchema(parameters: readonly FoundField[], body: FoundBody | undefined): JsonObject {
  const all = [...parameters, ...(body?.fields ?? [])].toSorted(
    (a, b) => ORDER.indexOf(a.field['x-in']) - ORDER.indexOf(b.field['x-in']),
  );
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const { name, field, isRequired } of all) {
    const key = freeKey(properties, name, field);
    setOwn(properties, key, key === name ? field : { ...field, 'x-name': name });
    if (isRequired) required.push(key);
  }
  return { type: 'object', properties, required };
}

function freeKey(properties: JsonObject, name: string, field: ActionField): string {
  if (!Object.hasOwn(properties, name)) return name;
  const base = `${name}_${field['x-in']}`;
  let key = base;
  for (let number = 2; Object.hasOwn(properties, key); number += 1) key = `${base}_${number}`;
  return key;
}

/**
 * Returns the schema of the success answer. Null if it has no schema, or in OpenAPI 3 is not described as JSON. A
 * mistake in the answer also gives null, because requests do not depend on the answer.
 */
function readResult(document: OpenapiDocument, operation: JsonObject, budget: SizeBudget): JsonObject | null {
  const answers = entriesAt(operation, 'responses');
  const success =
    answers.find(([status]) => /^2\d\d$/.test(status)) ?? answers.find(([status]) => /^2xx$/i.test(status));
  if (success === undefined) return null;
  try {
    const answer = resolve(document, success[1]);
    const media = document.isSwagger ? undefined : chooseMedia(entriesAt(answer, 'content'));
    const schema = document.isSwagger ? ownValue(answer, 'schema') : ownValue(media?.[1], 'schema');
    if (!isObject(schema) || (media !== undefined && !/json/i.test(media[0]))) return null;
    const copied = copySchema(document, schema, { values: budget.values / 2, characters: budget.characters / 2 });
    return Object.keys(copied).length === 0 ? null : copied;
  } catch (error) {
    if (error instanceof OperationProblem) return null;
    throw error;
  }
}
