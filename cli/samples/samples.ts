// The sample workflows of examples/graphs.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Environment } from '../../config/environment.js';
import { SANDBOX_MODEL } from '../sandbox/model-provider.js';

export interface SampleNode {
  id: string;
  type: string;
  data: { label: string; settings?: { model_name: string }; input_fields?: { id: string }[] };
}

export interface Sample {
  name: string;
  title: string;
  description: string;
  input: Record<string, unknown>;
  data: { nodes: SampleNode[] };
}

const OPENAI_DEMO_MODEL = 'gpt-4o-mini';

/** The news sample comes first, because it has a node of every kind. */
export function loadSamples(): Sample[] {
  const folder = findFolder(import.meta.dirname);
  const first = 'news-verdict.json';
  const names = readdirSync(folder).filter((name) => name.endsWith('.json') && name !== first);
  return [first, ...names].map((file) => {
    const sample = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Omit<Sample, 'name'>;
    return { name: path.basename(file, '.json'), ...sample };
  });
}

/** Finds the folder from the sources as well as from dist/. */
function findFolder(from: string): string {
  const folder = path.join(from, 'examples', 'graphs');
  return existsSync(folder) ? folder : findFolder(path.dirname(from));
}

/** Replaces the stand-in's model, which the samples name, by one of the configured provider. */
export function withModel(sample: Sample, model: string): Sample {
  const nodes = sample.data.nodes.map((node) => {
    const { settings } = node.data;
    return settings === undefined
      ? node
      : { ...node, data: { ...node.data, settings: { ...settings, model_name: model } } };
  });
  return { ...sample, data: { ...sample.data, nodes } };
}

/** Makes the input the default of the trigger's fields, so that the sample runs with nothing typed in. */
export function withDefaults(sample: Sample): Sample {
  const nodes = sample.data.nodes.map((node) => {
    const fields = node.data.input_fields?.map((field) =>
      Object.hasOwn(sample.input, field.id) ? { ...field, default_value: sample.input[field.id] } : field,
    );
    return fields === undefined ? node : { ...node, data: { ...node.data, input_fields: fields } };
  });
  return { ...sample, data: { ...sample.data, nodes } };
}

/** The stand-in's, or one of the provider that is configured. */
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
