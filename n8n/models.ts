// Chat nodes, and the nodes of models that are connected to chains and agents.
import type { JsonObject } from '../graph/json.js';
import { isObject } from '../graph/json.js';
import { parseOrUndefined } from './expressions.js';
import { locatedValue, numberOf, objectOf, objectsOf, textOf, valueAt, type N8nNode } from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import type { Place } from './places.js';

export interface Message {
  role: string;
  message: string;
}

/** n8n's names of what goes to the provider, by our names. */
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

/** The settings of a node with this model. */
export function settingsOf(at: NodeTranslation, model: string, options: JsonObject): JsonObject {
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
  if (model === '') at.warn('Choose a model: the file names none that can be read.');
  return settings;
}

const MODEL_TYPE = /^@n8n\/n8n-nodes-langchain\.lm[A-Z]/;

export function isModelNode({ type }: N8nNode): boolean {
  return MODEL_TYPE.test(type);
}

/** The settings of the model that is connected to a chain or an agent. */
export function connectedModel(at: NodeTranslation): JsonObject {
  const [model, ...others] = at.around.subNodes('ai_languageModel');
  if (others.length > 0) at.warn('Of several models the first one was taken over.');
  if (model === undefined) return settingsOf(at, '', {});
  const { parameters } = model;
  const given = textOf(locatedValue(parameters['model'])) ?? textOf(locatedValue(parameters['modelName'])) ?? '';
  const name = given.startsWith('=') ? at.text(given, 'model') : given;
  if (model.hasCredentials && model.type !== OPENAI_MODEL) {
    at.warn(`The model "${name}" of ${providerOf(model)} must be one that the operator of this service lists.`);
  }
  return settingsOf(at, name.includes('{{') ? '' : name.replace(/^models\//, ''), objectOf(parameters['options']));
}

const OPENAI_MODEL = '@n8n/n8n-nodes-langchain.lmChatOpenAi';

function providerOf({ type }: N8nNode): string {
  return type.replace(MODEL_TYPE, '').replace(/^hat/, '') || 'another provider';
}

/** What an output parser asks for; the answer then is JSON. */
export function connectedFormat(at: NodeTranslation): JsonObject | undefined {
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

/** The last version of the OpenAI node, the one before, and n8n's first one. */
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

/** `n8n-nodes-base.openAi`. */
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

/** Empty messages are refused here, and say nothing. */
export function withoutEmpty(messages: readonly Message[]): Message[] {
  const said = messages.filter(({ message }) => message.trim() !== '');
  if (said.length === 0) throw new NotTranslatable('it asks nothing');
  return said;
}

/** The place of an answer that stands at one path of the items. */
export function answerPlace(
  at: NodeTranslation,
  id: string,
  path: readonly (string | number)[],
  isJson: boolean,
): Place {
  const variable = `${id}.result.${isJson ? 'json' : 'content'}`;
  const gap = `of the answer there is only ${path.join('.')}`;
  return { readings: [{ path, variable }], ran: `${id}.result`, order: at.around.order, gap };
}
