// The nodes of models with sub-nodes: Basic LLM Chain and AI Agent.
import type { JsonObject } from '../graph/json.js';
import { cutText, numberOf, objectsOf, textOf, valueAt, wellFormed, type N8nNode } from './n8n-file.js';
import { answerPlace, connectedFormat, connectedModel, withoutEmpty, type Message } from './models.js';
import { oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { templateAt } from './places.js';

const ROLES: Readonly<Record<string, string>> = {
  SystemMessagePromptTemplate: 'system',
  HumanMessagePromptTemplate: 'user',
  AIMessagePromptTemplate: 'assistant',
};

export function translateChain(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const more = objectsOf(valueAt(parameters, 'messages', 'messageValues')).map(({ type, message }, index) => ({
    role: ROLES[textOf(type) ?? 'SystemMessagePromptTemplate'] ?? 'user',
    message: at.text(message, `messages[${index}]`),
  }));
  const messages = withoutEmpty([...more, { role: 'user', message: promptOf(at) }]);
  const settings = connectedModel(at);
  const format = connectedFormat(at);
  if (format !== undefined) settings['response_format'] = format;
  const id = at.add('llm', { messages, settings });
  return oneWay(id, answerPlace(at, id, [format === undefined ? 'text' : 'output'], format !== undefined));
}

/** By default the message of the chat in front of the node. */
function promptOf(at: NodeTranslation): string {
  const { parameters } = at;
  const given = parameters['text'] ?? parameters['prompt'];
  if (parameters['promptType'] === 'define' || (parameters['promptType'] === undefined && given !== undefined)) {
    return at.text(given, 'text');
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
      server_label: wellFormed(tool.label.slice(0, 60)),
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
  const given = textOf(parameters['name']) ?? tool.name;
  const name = given.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 64);
  const description = textOf(parameters['description']) ?? '';
  at.warn(`Choose the workflow of the tool${namedIn(parameters['workflowId'])}: ids of n8n mean nothing here.`, tool);
  return {
    type: 'workflow',
    ...(name !== '' && { name }),
    ...(description !== '' && { description: wellFormed(description.slice(0, 4000)) }),
    require_approval: 'never',
  };
}

/** The title that n8n remembers beside an id. */
export function namedIn(id: unknown): string {
  const title = textOf(valueAt(id, 'cachedResultName')) ?? '';
  return title === '' ? '' : ` ("${cutText(title, 100)}" in n8n)`;
}

/** Servers are told apart by their labels. */
function uniqueLabels(tools: readonly JsonObject[]): JsonObject[] {
  const seen = new Set<unknown>();
  return tools.map((tool, index) => {
    const { server_label: label } = tool;
    if (typeof label !== 'string') return tool;
    const unique = seen.has(label) ? wellFormed(`${label.slice(0, 50)} ${index + 1}`) : label;
    seen.add(unique);
    return { ...tool, server_label: unique };
  });
}
