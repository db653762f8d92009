// Generates clients of small documents with OpenAPI Generator, one module for each document, and loads them.
import { build } from 'esbuild';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Json } from './chosen-operations.js';

const TEMPLATES = import.meta.dirname;

interface ClientParameter {
  /** The name in the request. */
  name: string;
  /** The key in the object that the client takes. */
  key: string;
  /** The type that the client declares, in TypeScript. */
  type: string;
  in: 'path' | 'query' | 'header' | 'body' | 'form';
}

export interface ClientOperation {
  call: string;
  parameters: ClientParameter[];
}

type Call = (parameters: Json) => Promise<unknown>;

export interface GeneratedClient {
  /** The server of the document, as the generator has read it. */
  server: string;
  operations: ReadonlyMap<string, ClientOperation>;
  /** Converts JSON into a model of the client; undefined if the type is no model. */
  toModel: (type: string) => ((json: unknown) => unknown) | undefined;
  connect: (server: string) => Record<string, Call>;
}

/** Runs the generator over all documents; each client gets a folder with the name of its document. */
export async function generateClients(
  jar: string,
  documents: ReadonlyMap<string, Json>,
  folder: string,
): Promise<void> {
  const configs: string[] = [];
  await mkdir(folder, { recursive: true });
  for (const [name, document] of documents) {
    const inputSpec = path.join(folder, `${name}.json`);
    const config = path.join(folder, `${name}.config.json`);
    const text = JSON.stringify(document);
    const isSame = existsSync(inputSpec) && readFileSync(inputSpec, 'utf8') === text;
    if (isSame && existsSync(path.join(folder, name, 'runtime.ts'))) continue;
    await rm(path.join(folder, name), { recursive: true, force: true });
    await writeFile(inputSpec, text);
    await writeFile(
      config,
      JSON.stringify({
        generatorName: 'typescript-fetch',
        inputSpec,
        outputDir: path.join(folder, name),
        validateSpec: false,
        templateDir: TEMPLATES,
        // Models with additional properties would send a renamed property under its original name, too.
        additionalProperties: { modelPropertyNaming: 'original' },
        globalProperties: {
          apis: '',
          models: '',
          supportingFiles: '',
          apiDocs: 'false',
          modelDocs: 'false',
          apiTests: 'false',
          modelTests: 'false',
        },
        files: { 'operations.mustache': { templateType: 'API', destinationFilename: '.operations' } },
      }),
    );
    configs.push(config);
  }
  if (configs.length === 0) return;
  const args = ['-Xmx1g', '-jar', jar, 'batch', '--threads', '2', '--', ...configs];
  const child = spawn('java', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const errors: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const [code] = (await once(child, 'close')) as [number];
  await writeFile(path.join(folder, 'generator.log'), Buffer.concat(errors));
  // Code 1 means that the generator could not read a document. The client of that document is missing then.
  if (code > 1) throw new Error(`The generator ended with ${code}: ${Buffer.concat(errors).toString().slice(0, 2000)}`);
}

interface ClientModule {
  BASE_PATH: string;
  Configuration: new (settings: { basePath: string }) => object;
  AllApi: new (configuration: object) => Record<string, Call>;
  [name: string]: unknown;
}

/** Returns undefined if the generator has made no client that can be loaded. */
export async function loadClient(folder: string): Promise<GeneratedClient | undefined> {
  if (!existsSync(path.join(folder, 'runtime.ts'))) return undefined;
  const outfile = path.join(folder, 'client.mjs');
  try {
    if (!existsSync(outfile)) {
      await build({
        entryPoints: [path.join(folder, 'index.ts')],
        outfile,
        bundle: true,
        format: 'esm',
        platform: 'node',
        logLevel: 'silent',
      });
    }
    const {
      BASE_PATH: server,
      Configuration,
      AllApi,
      ...others
    } = (await import(pathToFileURL(outfile).href)) as ClientModule;
    const lines = readFileSync(path.join(folder, 'apis', 'AllApi.operations'), 'utf8').split('\n');
    const operations = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as ClientOperation);
    return {
      server,
      operations: new Map(operations.map((operation) => [operation.call, operation])),
      toModel: (type) => others[`${type}FromJSON`] as ((json: unknown) => unknown) | undefined,
      connect: (basePath) => new AllApi(new Configuration({ basePath })),
    };
  } catch {
    return undefined;
  }
}
