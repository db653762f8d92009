// Translates the OpenAI nodes, and chains and agents with the model nodes that are connected to them.
import { cutText } from '../graph/cut-text.js';
import { isObject, type JsonObject } from '../graph/json.js';
import { parseOrUndefined } from './expressions.js';
import {
  locatedValue,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
  valueAt,
  shortened,
  wellFormed,
  type N8nNode,
} from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { templateAt, type JsonPlace } from './json-places.js';

interface Message {
  role: string;
  message: string;
}

/** Our names for n8n's options that the provider receives. */
const OPTIONS: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  maxTokens: 'max_tokens',
  maxTokensToSample: 'max_tokens',
  maxOutputTokens: 'max_tokens',
  topP: 'top_p',
  frequencyPenalty: 'frequency_penalty',
  frequency_penalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  presence_penalty: 'presence_penalty',
};

const LIMITS: Readonly<Record<string, (value: number) => boolean>> = {
  temperature: (value) => value >= 0 && value <= 2,
  max_tokens: (value) => Number.isInteger(value) && value >= 1,
  top_p: (value) => value >= 0 && value <= 1,
};

function settingsOf(at: NodeTranslation, model: string, options: JsonObject): JsonObject {
  const settings: JsonObject = { model_name: model };
  for (const [name, value] of Object.entries(options)) {
    const ours = Object.hasOwn(OPTIONS, name) ? OPTIONS[name]! : undefined;
    const number = numberOf(value);
    if (ours === undefined || number === undefined) continue;
    const isPossible = !Object.hasOwn(LIMITS, ours) || LIMITS[ours]!(number);
    // -1 stands for no limit.
    if (isPossible) settings[ours] = number;
    else if (number !== -1) at.warn(`options.${name} is ${number}, which is out of range, and was left out.`);
  }
  if (options['responseFormat'] === 'json_object') settings['response_format'] = { type: 'json_object' };
  if (model === '') at.warn('Choose a model: the file names none that can be read.', at.node, CHOOSE_MODEL);
  return settings;
}

const CHOOSE_MODEL = { field: 'settings.model_name' };

const MODEL_TYPE = /^@n8n\/n8n-nodes-langchain\.lm[A-Z]/;

/** Returns the settings of the model that is connected to a chain or an agent. */
function connectedModel(at: NodeTranslation): JsonObject {
  const [model, ...others] = at.around.subNodes('ai_languageModel');
  if (others.length > 0) at.warn('Of several models the first one was taken over.');
  if (model === undefined) return settingsOf(at, '', {});
  const { parameters } = model;
  const written = textOf(locatedValue(parameters['model'])) ?? textOf(locatedValue(parameters['modelName'])) ?? '';
  const name = written.startsWith('=') ? at.text(written, 'model') : written;
  if (model.hasCredentials && model.type !== OPENAI_MODEL) {
    at.warn(
      `The model "${name}" of ${providerOf(model)} must be one that the operator of this service lists.`,
      at.node,
      CHOOSE_MODEL,
    );
  }
  return settingsOf(at, name.includes('{{') ? '' : name.replace(/^models\//, ''), objectOf(parameters['options']));
}

const OPENAI_MODEL = '@n8n/n8n-nodes-langchain.lmChatOpenAi';

function providerOf({ type }: N8nNode): string {
  return type.replace(MODEL_TYPE, '').replace(/^hat/, '') || 'another provider';
}

/** Returns the format that a connected output parser requires. With a format, the answer is JSON. */
function connectedFormat(at: NodeTranslation): JsonObject | undefined {
  const [parser] = at.around.subNodes('ai_outputParser');
  if (parser === undefined) return undefined;
  const { schemaType, inputSchema, jsonSchema } = parser.parameters;
  const schema = parseOrUndefined(textOf(inputSchema) ?? textOf(jsonSchema) ?? '');
  if (parser.type === '@n8n/n8n-nodes-langchain.outputParserStructured') {
    if (schemaType !== 'fromJson' && isObject(schema)) {
      return { type: 'json_schema', json_schema: { name: 'output', schema, strict: false } };
    }
    at.warn('The answer must be JSON here, but it is not compared with the example.', parser);
    return { type: 'json_object' };
  }
  at.warn('This output parser has no equivalent and was left out.', parser);
  return undefined;
}

/** Translates n8n's later OpenAI node, in its versions 1 and 2. */
export function translateOpenAi(at: NodeTranslation): TranslatedNode {
  const { parameters, node } = at;
  if ((parameters['resource'] ?? 'text') !== 'text')
    throw new NotTranslatable(`it is about "${textOf(parameters['resource']) ?? ''}"`);
  const operation = textOf(parameters['operation']) ?? (node.version >= 2 ? 'response' : 'message');
  if (operation !== 'message' && operation !== 'response') throw new NotTranslatable(`its operation is "${operation}"`);
  const isLater = operation === 'response' || node.version >= 2;
  const listed = valueAt(parameters, isLater ? 'responses' : 'messages', 'values');
  const messages = toMessages(at, objectsOf(listed));
  const options = objectOf(parameters['options']);
  const isJson =
    parameters['jsonOutput'] === true || valueAt(options, 'textFormat', 'textOptions', 'type') === 'json_object';
  if (at.around.subNodes('ai_tool').length > 0) at.warn('Its tools were left out. An agent node can use tools.');
  const model = textOf(locatedValue(parameters['modelId'])) ?? '';
  const settings = settingsOf(at, at.text(model, 'modelId'), options);
  if (isJson) settings['response_format'] = { type: 'json_object' };
  const id = at.add('llm', { messages, settings });
  const path = isLater ? ['output', 0, 'content', 0, 'text'] : ['message', 'content'];
  const raw = parameters['simplify'] === false && !isLater ? ['choices', 0, ...path] : path;
  return oneWay(id, answerPlace(at, id, raw, isJson));
}

/** Translates `n8n-nodes-base.openAi`, n8n's first OpenAI node. */
export function translateFirstOpenAi(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const resource = textOf(parameters['resource']) ?? 'text';
  const operation = textOf(parameters['operation']) ?? 'complete';
  if (operation !== 'complete' || (resource !== 'chat' && resource !== 'text')) {
    throw new NotTranslatable(`it is about "${resource}", operation "${operation}"`);
  }
  const isChat = resource === 'chat';
  const model = textOf(parameters['chatModel']) ?? textOf(parameters['model']) ?? (isChat ? 'gpt-3.5-turbo' : '');
  const messages = isChat
    ? toMessages(at, objectsOf(valueAt(parameters, 'prompt', 'messages')))
    : toMessages(at, [{ role: 'user', content: parameters['prompt'] }]);
  const id = at.add('llm', {
    messages,
    settings: settingsOf(at, at.text(model, 'model'), objectOf(parameters['options'])),
  });
  const path = isChat ? ['message', 'content'] : ['text'];
  const raw = parameters['simplifyOutput'] === false ? ['choices', 0, ...path] : path;
  return oneWay(id, answerPlace(at, id, raw, false));
}

function toMessages(at: NodeTranslation, messages: readonly JsonObject[]): Message[] {
  const made = messages.map((message, index) => ({
    role: textOf(message['role']) ?? 'user',
    message: at.text(message['content'], `messages[${index}]`),
  }));
  return withoutEmpty(made);
}

/** A drawing may not have empty messages. */
function withoutEmpty(messages: readonly Message[]): Message[] {
  const filled = messages.filter(({ message }) => message.trim() !== '');
  if (filled.length === 0) throw new NotTranslatable('it asks nothing');
  return filled;
}

/** Returns the place of an answer at one path of the items. */
function answerPlace(at: NodeTranslation, id: string, path: readonly (string | number)[], isJson: boolean): JsonPlace {
  const variable = `${id}.result.${isJson ? 'json' : 'content'}`;
  const gap = `of the answer there is only ${path.join('.')}`;
  return { readings: [{ path, variable }], ran: `${id}.result`, order: at.around.order, gap };
}

// Below: Basic LLM Chain and AI Agent, which have sub-nodes.

const ROLES: ReadonlyMap<string, string> = new Map([
  ['SystemMessagePromptTemplate', 'system'],
  ['HumanMessagePromptTemplate', 'user'],
  ['AIMessagePromptTemplate', 'assistant'],
]);

export function translateChain(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const more = objectsOf(valueAt(parameters, 'messages', 'messageValues')).map(({ type, message }, index) => ({
    role: ROLES.get(textOf(type) ?? 'SystemMessagePromptTemplate') ?? 'user',
    message: at.text(message, `messages[${index}]`),
  }));
  const messages = withoutEmpty([...more, { role: 'user', message: promptOf(at) }]);
  const settings = connectedModel(at);
  const format = connectedFormat(at);
  if (format !== undefined) settings['response_format'] = format;
  const id = at.add('llm', { messages, settings });
  return oneWay(id, answerPlace(at, id, [format === undefined ? 'text' : 'output'], format !== undefined));
}

/**
 * Returns the node's own prompt if it defines one, otherwise the field `chatInput` of the incoming data. If that field
 * cannot be read, returns a placeholder, with a warning.
 */
function promptOf(at: NodeTranslation): string {
  const { parameters } = at;
  const written = parameters['text'] ?? parameters['prompt'];
  if (parameters['promptType'] === 'define' || (parameters['promptType'] === undefined && written !== undefined)) {
    return at.text(written, 'text');
  }
  const message = templateAt(at.json, ['chatInput']);
  if (typeof message === 'string') return message;
  at.warn('Write its message: it takes the field "chatInput" of what comes before it, which cannot be read.');
  return 'chatInput';
}

const MAX_TOOLS = 32;
const DEFAULT_ITERATIONS = 10;

export function translateAgent(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const options = (parameters['options'] ?? {}) as JsonObject;
  const system: Message = { role: 'system', message: at.text(options['systemMessage'], 'options.systemMessage') };
  const messages = withoutEmpty([system, { role: 'user', message: promptOf(at) }]);
  const iterations = numberOf(options['maxIterations']) ?? DEFAULT_ITERATIONS;
  const settings = {
    ...connectedModel(at),
    max_iterations: Math.max(1, Math.min(1000, Math.trunc(iterations))),
  } as JsonObject;
  const format = connectedFormat(at);
  if (format !== undefined) settings['response_format'] = format;
  for (const memory of at.around.subNodes('ai_memory')) {
    at.warn('Memories have no equivalent: each run of the agent begins anew.', memory);
  }
  const tools = at.around.subNodes('ai_tool').flatMap((tool) => toTool(at, tool));
  const id = at.add('agent', { messages, settings, tools: uniqueLabels(tools.slice(0, MAX_TOOLS)) });
  return oneWay(id, answerPlace(at, id, ['output'], format !== undefined));
}

function toTool(at: NodeTranslation, tool: N8nNode): JsonObject[] {
  if (tool.isDisabled) {
    at.warn('It is switched off in the file, and was left out.', tool);
    return [];
  }
  if (tool.type === '@n8n/n8n-nodes-langchain.mcpClientTool') return toServer(at, tool);
  if (tool.type === '@n8n/n8n-nodes-langchain.toolWorkflow') return [toWorkflowTool(at, tool)];
  at.warn(`${tool.type} has no equivalent among the tools of agents, and was left out.`, tool);
  return [];
}

function toServer(at: NodeTranslation, tool: N8nNode): JsonObject[] {
  const { parameters } = tool;
  const url = textOf(parameters['endpointUrl']) ?? textOf(parameters['sseEndpoint']) ?? '';
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    at.warn('The address of the MCP server is none that can be taken over, and the tool was left out.', tool);
    return [];
  }
  const transport = textOf(parameters['serverTransport']) ?? (tool.version >= 1.2 ? 'httpStreamable' : 'sse');
  const include = textOf(parameters['include']) ?? 'all';
  if (include === 'except') at.warn('All tools of the server can be used: those that n8n excludes were not.', tool);
  const allowed = namesIn(parameters['includeTools']);
  const isOpen = (parameters['authentication'] ?? 'none') === 'none';
  if (!isOpen) at.warn('Fill in the header "Authorization": credentials are not taken over.', tool);
  return [
    {
      type: 'mcp',
      server_label: wellFormed(cutText(tool.label, 60)),
      endpoint_url: url,
      transport: transport === 'httpStreamable' ? 'streamable_http' : 'sse',
      headers: isOpen ? {} : { Authorization: '' },
      ...(include === 'selected' && { allowed_tools: allowed }),
      require_approval: 'never',
    },
  ];
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value)
    ? value.filter((name: unknown): name is string => typeof name === 'string' && name !== '')
    : [];
}

function toWorkflowTool(at: NodeTranslation, tool: N8nNode): JsonObject {
  const { parameters } = tool;
  const written = textOf(parameters['name']) ?? tool.name;
  const name = written.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 64);
  const description = textOf(parameters['description']) ?? '';
  at.warn(`Choose the workflow of the tool${namedIn(parameters['workflowId'])}: ids of n8n mean nothing here.`, tool, {
    field: 'tools',
  });
  return {
    type: 'workflow',
    ...(name !== '' && { name }),
    ...(description !== '' && { description: wellFormed(cutText(description, 4000)) }),
    require_approval: 'never',
  };
}

/** Returns the title that n8n stores next to an id as an addition to a sentence. Empty if there is none. */
export function namedIn(id: unknown): string {
  const title = textOf(valueAt(id, 'cachedResultName')) ?? '';
  return title === '' ? '' : ` ("${shortened(title, 100)}" in n8n)`;
}

function uniqueLabels(tools: readonly JsonObject[]): JsonObject[] {
  const seen = new Set<unknown>();
  return tools.map((tool, index) => {
    const { server_label: label } = tool;
    if (typeof label !== 'string') return tool;
    const unique = seen.has(label) ? wellFormed(`${cutText(label, 50)} ${index + 1}`) : label;
    seen.add(unique);
    return { ...tool, server_label: unique };
  });
}
