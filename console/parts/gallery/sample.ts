// Reads the parts of a workflow of examples/ that the gallery shows, and fits its drawing to the models of the service.
import { isObject, type JsonObject } from '../../../graph/json.js';
import { asArray, asObject, asText } from '../../ui/json.js';

/** A file of examples/graphs or examples/gallery (cli/samples/samples.ts). */
export interface SampleFile {
  title: string;
  description: string;
  tags: readonly string[];
  is_chat?: boolean;
  data: JsonObject;
}

export interface Sample {
  /** The name of its file. */
  name: string;
  title: string;
  /** One sentence. */
  line: string;
  tags: readonly string[];
  /** What a person must have or enter before the sample runs. */
  needs: readonly string[];
  isChat: boolean;
  drawing: JsonObject;
}

/** The model and the servers of the files exist in the demo and in tests only. */
const DEMO_HOST = 'http://127.0.0.1:8080';

export function toSample(
  name: string,
  { title, description, tags, is_chat: isChat = false, data }: SampleFile,
): Sample {
  const [line = description] = /^.*?[.!?](?=\s|$)/.exec(description) ?? [];
  return { name, title, line, tags, needs: needsOf(data), isChat, drawing: data };
}

/** Returns the drawing with `model`, or with no model, and without the addresses of the demo. */
export function forService(drawing: JsonObject, model: string | undefined): JsonObject {
  return replaced(drawing, model ?? '') as JsonObject;
}

function replaced(value: unknown, model: string): unknown {
  if (typeof value === 'string') return value.startsWith(DEMO_HOST) ? '' : value;
  if (Array.isArray(value)) return value.map((item) => replaced(item, model));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, part]) => {
    if (key === 'model_name') return [key, model] as const;
    // A placeholder must not be an address that exists in the demo only.
    if (key === 'placeholder' && part === DEMO_HOST) return [key, 'https://'] as const;
    return [key, replaced(part, model)] as const;
  });
  return Object.fromEntries(entries);
}

/** True if the texts of the sample together have all words. */
export function matches({ title, line, tags, needs }: Sample, words: string): boolean {
  const text = [title, line, ...tags, ...needs].join(' ').toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function needsOf(drawing: JsonObject): string[] {
  const found = new Set<string>();
  const nodes = asArray(drawing['nodes']).map(asObject);
  for (const data of nodes.map((node) => asObject(node['data']))) {
    if (asText(asObject(data['settings'])['model_name']) !== undefined) found.add('a model');
    const types = asArray(data['tools']).map((tool) => asObject(tool)['type'] ?? 'mcp');
    if (types.includes('mcp')) found.add('an MCP server');
    if (types.includes('action')) found.add('a service with such actions');
    if (asArray(data['tools']).some((tool) => asObject(tool)['require_approval'] === 'always')) found.add(PERSON);
    if (Object.hasOwn(data, 'assignees') || Object.hasOwn(data, 'actions')) found.add(PERSON);
    if (Object.hasOwn(data, 'workflow_id')) found.add('another workflow');
    for (const field of asArray(data['input_fields']).map(asObject)) {
      const id = asText(field['id']) ?? '';
      if (id.endsWith('_url')) found.add(`the ${lowerFirst(asText(field['title']) ?? id)}`);
      if (field['type'] === 'file') found.add('a file');
    }
  }
  return [...found];
}

const PERSON = 'a person who decides';

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}
