// Sends the request of an action as HTTP nodes do, and the same values with a generated client.
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { toActionRequest } from '../../../activities/kinds/http/action-request.js';
import { toFileBody } from '../../../activities/kinds/http/file-body.js';
import { toRequest } from '../../../activities/kinds/http/http-request.js';
import type { FileUse } from '../../../activities/files/file-use.js';
import type { NodeTask } from '../../../activities/node/node-step.js';
import type { Database } from '../../../db/core/client.js';
import type { StoredFile } from '../../../db/files/files-repository.js';
import { fieldsOf, nameOf, type ActionFacts } from '../../../graph/actions/action.js';
import { fileIdOf } from '../../../graph/file-values.js';
import { isObject, type JsonObject } from '../../../graph/json.js';
import { createMasker } from '../../../graph/mask.js';
import { createOutgoingClient } from '../../../outgoing/outgoing-client.js';
import type { ChosenOperation } from './chosen-operations.js';
import type { ClientOperation, GeneratedClient } from './generated-client.js';
import { Bytes } from './random-values.js';

interface GivenValue {
  place: string;
  name: string;
  value: unknown;
}

/** The values that a caller sends: parameters, and the body. */
export interface GivenValues {
  parameters: GivenValue[];
  body: unknown;
}

const FILE_TYPE = 'text/plain';

/** The fields of a node's task that are read to create a request. */
const task = {
  run: { projectId: 1, masker: createMasker([]) },
  runId: randomUUID(),
  path: '',
  nodeId: 'node',
  signal: new AbortController().signal,
} as unknown as NodeTask;

/** The sender creates the request of an action with the functions of the HTTP node, and sends it to `facts.server`. */
export function createActionSender() {
  const client = createOutgoingClient({ allowPrivateNetwork: true });
  const contents = new Map<string, string>();
  const files: FileUse = {
    maxBytes: 1e6,
    find(_task, value) {
      const id = fileIdOf(value)!;
      const size = Buffer.byteLength(contents.get(id)!);
      return Promise.resolve({ id, name: 'file.txt', type: FILE_TYPE, size } as StoredFile);
    },
    read: ({ id }) => Promise.resolve(Readable.from([Buffer.from(contents.get(id)!)])),
    save: () => Promise.reject(new Error('no file is saved')),
    saveAnswer: () => Promise.reject(new Error('no file is saved')),
  };
  const toFile = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(toFile);
    if (!(value instanceof Bytes)) return value;
    const id = randomUUID();
    contents.set(id, value.text);
    return { file_id: id, name: 'file.txt', type: FILE_TYPE, size: Buffer.byteLength(value.text), sha256: '' };
  };
  return {
    async send(facts: ActionFacts, given: JsonObject): Promise<void> {
      const values = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, toFile(value)]));
      const rendered = await toActionRequest(undefined as unknown as Database, task, {
        facts,
        values,
        connection: null,
      });
      const withFiles = await toFileBody(files, task, rendered.body);
      await client.send(toRequest(rendered, { timeout: 60 }, { task, withFiles }));
    },
    close: () => client.close(),
  };
}

/** Assigns the values to the fields of an action. `lost` names the values for which the action has no field. */
export function valuesOfAction(
  facts: ActionFacts,
  { parameters, body }: GivenValues,
): { values: JsonObject; lost: string[] } {
  const values: JsonObject = {};
  const lost: string[] = [];
  const put = ({ place, name, value }: GivenValue): void => {
    const found = fieldsOf(facts).find(([key, field]) => field['x-in'] === place && nameOf(key, field) === name);
    if (found === undefined) lost.push(`${place} ${name}`);
    else values[found[0]] = value;
  };
  for (const parameter of parameters)
    put({ ...parameter, place: parameter.place === 'form' ? 'body' : parameter.place });
  if (body === undefined) return { values, lost };
  if (facts.body?.is_whole === true) put({ place: 'body', name: 'body', value: body });
  else for (const [name, value] of Object.entries(body as JsonObject)) put({ place: 'body', name, value });
  return { values, lost };
}

/** Sends the request of the operation to `server` with the generated client. */
export async function sendByClient(
  client: GeneratedClient,
  { id }: ChosenOperation,
  { call, parameters: known }: ClientOperation,
  { parameters, body }: GivenValues,
  server: string,
): Promise<void> {
  const given = [
    ...parameters,
    { place: 'body', name: '', value: body },
    ...(isObject(body) ? Object.entries(body).map(([name, value]) => ({ place: 'form', name, value })) : []),
  ];
  const all: JsonObject = {};
  for (const { in: place, name, key, type } of known) {
    const found = given.find((one) => one.place === place && (place === 'body' || one.name === name));
    if (found?.value !== undefined) all[key] = toClientValue(client, type, found.value);
  }
  const run = client.connect(server)[call];
  if (run === undefined) throw new Error(`the client has no ${id}`);
  await run.call(client.connect(server), all);
}

/** Converts JSON into the types that the client declares: its models, dates, sets and files. */
function toClientValue(client: GeneratedClient, declared: string, value: unknown): unknown {
  const type = declared.replace(/ \| null$/, '');
  if (value instanceof Bytes) return new File([value.text], 'file.txt', { type: FILE_TYPE });
  if (type !== 'Date' && (typeof value !== 'object' || value === null)) return value;
  if (type === 'Date') return new Date(String(value));
  const list = /^(Array|Set)<(.*)>$/s.exec(type);
  if (list !== null && Array.isArray(value)) {
    const items = value.map((item) => toClientValue(client, list[2]!, item));
    return list[1] === 'Set' ? new Set(items) : items;
  }
  const map = /^\{ \[key: string\]: (.*); \}$/s.exec(type);
  if (map !== null && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toClientValue(client, map[1]!, item)]));
  }
  return client.toModel(type)?.(value) ?? value;
}
