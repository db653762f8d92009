// The tools that find the parts of drawings: kinds of nodes, actions of services, and models.
import { z } from 'zod';
import { actionsOf, describeAction, type AskedActions } from './action-tools.js';
import { listCatalog } from '../../db/workflows/catalog-repository.js';
import { exampleOf } from '../../graph/building/example.js';
import { ORDINARY_EXIT } from '../../graph/building/node-links.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { traitsOf } from '../../graph/kinds.js';
import { describeNodes } from '../../graph/nodes/describe-nodes.js';
import { kindOfType } from '../../graph/nodes/registry.js';
import { changesSchema } from '../../graph/building/changes-schema.js';
import { defineTool, idSchema, textUpTo, ToolError, type ToolContext } from './tool.js';

const MOST_FOUND = 30;

const foundSchema = z.object({
  id: z.string(),
  kind: z.string().optional(),
  action: z.object({ service: z.string(), id: z.string() }).optional(),
  model: z.string().optional(),
  title: z.string(),
  line: z.string(),
});

type Found = z.infer<typeof foundSchema>;

/**
 * Each source returns all its items, except that `actionsOf` reads at most 100 actions of each service of a project,
 * selected by the first word of the query. `find_nodes` then applies the whole query.
 */
const SOURCES: ((context: ToolContext, asked: AskedActions) => Promise<Found[]> | Found[])[] = [
  kindsOf,
  modelsOf,
  actionsOf,
];

export const findNodes = defineTool({
  name: 'find_nodes',
  title: 'Find node kinds',
  description:
    'Lists what a drawing can be made of: kinds of nodes, models, and actions of services, with `project` also those of its ' +
    'own services. `query`: words that must occur. describe_node tells the data of a kind or action.',
  isReading: true,
  input: z.object({ query: textUpTo(200).optional(), project: idSchema.optional() }),
  output: z.object({ items: z.array(foundSchema), total: z.int() }),
  async run(context, { query = '', project }) {
    const lists: Found[][] = [];
    for (const source of SOURCES) lists.push(await source(context, { project, query }));
    const found = matching(lists.flat(), query);
    return { items: found.slice(0, MOST_FOUND), total: found.length };
  },
});

/** Returns the items with all words of the query or, if there are none, the items with any of them. */
function matching(all: readonly Found[], query: string): Found[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const texts = new Map(all.map((item) => [item, `${item.id} ${item.title} ${item.line}`.toLowerCase()]));
  const whole = all.filter((item) => words.every((word) => texts.get(item)!.includes(word)));
  return whole.length > 0 ? whole : all.filter((item) => words.some((word) => texts.get(item)!.includes(word)));
}

function kindsOf(): Found[] {
  return describeNodes().map(({ type, title, description }) => ({ id: type, kind: type, title, line: description }));
}

function modelsOf({ deps }: ToolContext): Found[] {
  return modelNames(deps).map((id) => ({ id, model: id, title: id, line: 'A model, for `settings.model_name`.' }));
}

function modelNames({ models }: ToolContext['deps']): string[] {
  return [...models.models.keys()].filter((id) => id !== '*');
}

export const describeNode = defineTool({
  name: 'describe_node',
  title: 'Describe a node kind',
  description:
    'Tells the JSON Schema of the data of a kind, or of an action of a `service`, that of its result, its exits, what it ' +
    'needs, and an example as a list of changes for edit_workflow.',
  isReading: true,
  input: z.object({
    kind: textUpTo(100).optional(),
    service: textUpTo(200).optional(),
    action: textUpTo(200).optional(),
    project: idSchema.optional().describe('Where its example takes a sub-workflow or a connection from'),
  }),
  output: z.object({
    kind: z.string(),
    title: z.string(),
    description: z.string(),
    schema: z.record(z.string(), z.unknown()),
    result: z.record(z.string(), z.unknown()),
    exits: z.array(z.object({ id: z.string(), label: z.string() })),
    exits_from: z.string().optional().describe('The list in the data whose items are further exits, by their ids'),
    needs: z.array(z.enum(['connection', 'model', 'workflow'])),
    variables: z.array(z.string()).describe('What nodes in the body of a loop can read of it'),
    example: changesSchema.nullable(),
  }),
  async run(context, { kind: type, service, action, project }) {
    if (service !== undefined || action !== undefined) return describeAction(context, { service, action, project });
    const kind = type === undefined ? undefined : kindOfType(type);
    const described = describeNodes().find((one) => one.type === type);
    if (kind === undefined || described === undefined)
      throw new ToolError('There is no such kind. find_nodes lists them.');
    const { handles, handles_from: from, is_list_optional: isOptional, has_next_nodes: hasNext } = described;
    const isPlain = handles.length === 0 && from === undefined;
    const ordinary = isPlain || hasNext === true || isOptional === true ? [{ id: ORDINARY_EXIT, label: 'Next' }] : [];
    const schema = withoutNoise(described.schema as JsonObject);
    const known = { model: modelNames(context.deps)[0] ?? 'MODEL', workflowId: await anyWorkflow(context, project) };
    return {
      kind: described.type,
      title: described.title,
      description: described.description,
      schema,
      result: withoutNoise(described.output_schema as JsonObject),
      exits: [
        ...ordinary,
        ...handles.map(({ id, label }) => ({ id, label })),
        { id: 'error', label: 'With on_error: branch' },
      ],
      ...(from !== undefined && { exits_from: from }),
      needs: needsOf(kind, schema),
      variables: (described.body_variables ?? []).map((name) => `{{ NODE.${name} }}`),
      example: exampleOf(kind, known) ?? null,
    };
  },
});

/** Keywords of a schema that a model does not need, such as the titles of an editor's form. */
const NOISE: ReadonlySet<string> = new Set(['title', 'group', '$schema', 'additionalProperties', 'examples']);

function withoutNoise(schema: JsonObject, isProperties = false): JsonObject {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => isProperties || !NOISE.has(key))
      .map(([key, value]) => [key, cleaned(value, key === 'properties' || key === '$defs')]),
  );
}

function cleaned(value: unknown, isProperties: boolean): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => cleaned(item, false));
  return isObject(value) ? withoutNoise(value, isProperties) : value;
}

function needsOf(
  kind: NonNullable<ReturnType<typeof kindOfType>>,
  schema: JsonObject,
): ('connection' | 'model' | 'workflow')[] {
  const hasModel = JSON.stringify(schema).includes('"format":"model"');
  return [
    ...(traitsOf(kind).servers === 'none' ? [] : (['connection'] as const)),
    ...(hasModel ? (['model'] as const) : []),
    ...(kind === 'workflow' ? (['workflow'] as const) : []),
  ];
}

async function anyWorkflow({ deps, caller }: ToolContext, projectId: number | undefined): Promise<number | undefined> {
  if (projectId === undefined) return undefined;
  const query = { reach: caller, projectId, ordering: '-created_at' as const, limit: 1, offset: 0 };
  const all = { search: undefined, titleContains: undefined, tags: undefined, isOwn: false };
  const filters = { categories: undefined, subcategories: undefined, languages: undefined };
  return (await listCatalog(deps.db, { ...query, ...all, ...filters })).ids[0];
}
