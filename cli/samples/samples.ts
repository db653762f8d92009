// Loads the sample workflows: those in examples/graphs, which `npm start` and the demo create, and those in
// examples/gallery, which only the gallery of the console has.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Environment } from '../../config/environment.js';
import { SANDBOX_MODEL } from '../sandbox/model-provider.js';
import type { SampleSettings } from './samples-file.js';

export interface SampleNode {
  id: string;
  type: string;
  data: {
    label: string;
    settings?: { model_name?: string };
    input_fields?: { id: string }[];
    tools?: { type?: string; endpoint_url?: string; service?: string }[];
  };
}

/** The answer of a person, another service or an approver to a waiting node of the sample. */
export interface Answer {
  action?: string;
  values?: Record<string, unknown>;
  comment?: string;
  body?: unknown;
  decision?: 'approve' | 'reject';
  reason?: string;
}

export interface Sample {
  name: string;
  title: string;
  description: string;
  /** Words by which the gallery of the console finds the sample. */
  tags: string[];
  input: Record<string, unknown>;
  /** True for a chat workflow. */
  is_chat?: true;
  /** The files in examples/files, by the field of the trigger. */
  files?: Record<string, string>;
  /** The paths of OpenAPI documents on the sample targets, by the names that tools of agents use for the services. */
  services?: Record<string, string>;
  /** The samples that nodes call as sub-workflows, by node id. */
  sub_workflows?: Record<string, string>;
  /** The answers, by the id of the waiting node. */
  answers?: Record<string, Answer>;
  /** The output of a run with this input, these answers and the sandbox model. */
  output?: unknown;
  data: { nodes: SampleNode[]; edges: { source: string; target: string; sourceHandle?: string }[] };
}

const OPENAI_DEMO_MODEL = 'gpt-4o-mini';

/** Stands for the address of the sample targets in the inputs of samples. */
const HOST = 'http://127.0.0.1:8080';

/**
 * In `graphs`, the news sample comes first, because it is the simplest. Samples that call others come last, because the
 * others must exist before them.
 */
export function loadSamples(of: 'graphs' | 'gallery' = 'graphs'): Sample[] {
  const folder = findFolder(import.meta.dirname, of);
  const first = 'news-verdict.json';
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const inOrder = [...names.filter((name) => name === first), ...names.filter((name) => name !== first)];
  const samples = inOrder.map((file) => {
    const sample = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Omit<Sample, 'name'>;
    return { name: path.basename(file, '.json'), ...sample };
  });
  const runsOthers = ({ sub_workflows: others }: Sample): boolean => others !== undefined;
  return [...samples.filter((sample) => !runsOthers(sample)), ...samples.filter(runsOthers)];
}

/** Finds the folder from the sources and from dist/. */
function findFolder(from: string, name: string): string {
  const folder = path.join(from, 'examples', name);
  return existsSync(folder) ? folder : findFolder(path.dirname(from), name);
}

export interface SampleFile {
  /** The id of the trigger's field. */
  field: string;
  name: string;
  type: string;
  bytes: Buffer;
}

const FILE_TYPES: Readonly<Record<string, string>> = { '.pdf': 'application/pdf', '.png': 'image/png' };

export function filesOfSample({ files = {} }: Sample): SampleFile[] {
  const folder = findFolder(import.meta.dirname, 'files');
  return Object.entries(files).map(([field, name]) => {
    const bytes = readFileSync(path.join(folder, name));
    return { field, name, type: FILE_TYPES[path.extname(name)] ?? 'application/octet-stream', bytes };
  });
}

/** The MCP address of the sample targets. It cannot contain variables, so each drawing contains it literally. */
export function toolsAt(baseUrl: string): string {
  return `${baseUrl}/mcp`;
}

/**
 * Returns the sample with the local targets, model, sub-workflows and services. `made` has the ids of the workflows
 * that were created for earlier samples, by name, and `services` the ids of services.
 */
export function placeSample(
  sample: Sample,
  { base_url: baseUrl, model }: SampleSettings,
  made: ReadonlyMap<string, number>,
  services: ReadonlyMap<string, string> = new Map(),
): Sample {
  const nodes = sample.data.nodes.map(({ data, ...node }) => {
    const { settings, tools } = data;
    const runs = sample.sub_workflows?.[node.id];
    return {
      ...node,
      data: {
        ...data,
        ...(settings?.model_name !== undefined && { settings: { ...settings, model_name: model } }),
        ...(tools !== undefined && {
          tools: tools.map((tool) =>
            tool.type === 'action'
              ? { ...tool, service: services.get(tool.service!)! }
              : { ...tool, endpoint_url: toolsAt(baseUrl) },
          ),
        }),
        ...(runs !== undefined && { workflow_id: made.get(runs)! }),
      },
    };
  });
  const input = Object.entries(sample.input).map(([field, value]) => [field, withHost(value, baseUrl)] as const);
  return { ...sample, input: Object.fromEntries(input), data: { ...sample.data, nodes } };
}

function withHost(value: unknown, baseUrl: string): unknown {
  return typeof value === 'string' ? value.replaceAll(HOST, baseUrl) : value;
}

/** Makes the input the default of the trigger's fields, so that the sample runs without typing anything. */
export function withDefaults(sample: Sample): Sample {
  const nodes = sample.data.nodes.map((node) => {
    const fields = node.data.input_fields?.map((field) =>
      Object.hasOwn(sample.input, field.id) ? { ...field, default_value: sample.input[field.id] } : field,
    );
    return fields === undefined ? node : { ...node, data: { ...node.data, input_fields: fields } };
  });
  return { ...sample, data: { ...sample.data, nodes } };
}

/** Returns the drawing with the files as the defaults of their fields. */
export function withFileDefaults(
  drawing: Record<string, unknown>,
  files: ReadonlyMap<string, object>,
): Record<string, unknown> {
  return JSON.parse(JSON.stringify(drawing), (_, value: unknown) => {
    const { id, type } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
    const file = type === 'file' ? files.get(String(id)) : undefined;
    return file === undefined ? value : { ...(value as object), default_value: file };
  }) as Record<string, unknown>;
}

/** Returns the sandbox model, or a model of the configured provider. */
export function demoModel({ modelProvidersFile, openaiApiKey }: Environment): string {
  if (modelProvidersFile !== undefined) {
    const { providers } = JSON.parse(readFileSync(modelProvidersFile, 'utf8')) as ProvidersFile;
    const named = providers.flatMap(({ models }) => models).find(({ id }) => id !== '*');
    return named?.id ?? OPENAI_DEMO_MODEL;
  }
  return openaiApiKey === undefined ? SANDBOX_MODEL : OPENAI_DEMO_MODEL;
}

interface ProvidersFile {
  providers: { models: { id: string }[] }[];
}
