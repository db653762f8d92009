// Reads the tests of n8n's own nodes: workflows with the results that n8n expects of their nodes, in `pinData`.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { isObject, type JsonObject } from '../../../graph/json.js';

/** The folder `packages/nodes-base/nodes` of a checkout of n8n, or of a fork that has another name. */
const FOLDER = process.env['N8N_NODES'] ?? '';

/** Matches the start of a node's type. A fork has renamed the packages, and with them the types. */
const OF_FORK = /"(?:mage|n8n)-nodes-base\./g;
const TRAINING = /"(n8n-nodes-base\.)mage(Training\w+)"/g;

export interface N8nTest {
  name: string;
  /** The path of its file. */
  file: string;
  workflow: JsonObject;
  /** The items that n8n expects of a node, by its name. */
  expected: ReadonlyMap<string, { type: string; items: unknown[] }>;
}

export const whyMissing =
  FOLDER !== '' && existsSync(FOLDER)
    ? undefined
    : 'NOT RUN, for N8N_NODES names no folder packages/nodes-base/nodes of a checkout of n8n';

export function readTests(): N8nTest[] {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
  const tests = files.filter((file) => /(?:^|\/)test\/.*\.json$/.test(file)).toSorted();
  return tests.flatMap((name) => readTest(name) ?? []);
}

function readTest(name: string): N8nTest | undefined {
  const text = readFileSync(path.join(FOLDER, name), 'utf8')
    .replaceAll(OF_FORK, '"n8n-nodes-base.')
    .replaceAll(TRAINING, '"$1n8n$2"');
  const file = parsed(text);
  if (!isObject(file) || !Array.isArray(file['nodes']) || !isObject(file['pinData'])) return undefined;
  const { pinData, ...rest } = file;
  for (const node of file['nodes'].filter(isObject)) replaceTraining(node);
  const types = new Map(file['nodes'].filter(isObject).map((node) => [node['name'], String(node['type'])]));
  const expected = Object.entries(pinData).flatMap(([node, items]) => {
    const type = types.get(node);
    return type !== undefined && Array.isArray(items) ? [[node, { type, items }] as const] : [];
  });
  return { name, file: path.join(FOLDER, name), workflow: rest, expected: new Map(expected) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const PEOPLE = /^const data = (\[[\s\S]*?^\]);/m;

/** Replaces the node that gives n8n's sample people by a Code node that gives the same people. */
function replaceTraining(node: JsonObject): void {
  if (node['type'] !== 'n8n-nodes-base.n8nTrainingCustomerDatastore') return;
  const { operation, returnAll, limit = 5 } = (node['parameters'] ?? {}) as JsonObject;
  const [, people = '[]'] = PEOPLE.exec(trainingSource()) ?? [];
  const end = operation === 'getAllPeople' ? (returnAll === true ? '' : `.slice(0, ${String(limit)})`) : '.slice(0, 1)';
  node['type'] = 'n8n-nodes-base.code';
  node['typeVersion'] = 2;
  node['parameters'] = { jsCode: `return ${people}${end};` };
}

function trainingSource(): string {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
  const file = files.find((name) => /TrainingCustomerDatastore\.node\.ts$/i.test(name));
  return file === undefined ? '' : readFileSync(path.join(FOLDER, file), 'utf8');
}
