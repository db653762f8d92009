// The answers of the sandbox model. They depend only on the request, so that demos and tests can rely on them.
import { cutText } from '../../graph/cut-text.js';

export interface ChatMessage {
  role: string;
  content: string | ContentPart[] | null;
}

interface ContentPart {
  type: string;
  text?: string;
  image_url?: { url?: unknown };
  file?: { filename?: unknown; file_data?: unknown };
}

const LABEL = '[sandbox]';
const ECHO_CHARACTERS = 600;

/** The supported part of JSON Schema. */
interface Shape {
  type?: unknown;
  enum?: unknown[];
  properties?: Record<string, Shape>;
  minimum?: number;
  maximum?: number;
}

export interface ResponseFormat {
  json_schema?: { schema?: Shape };
}

/**
 * Returns an echo, with a label, of the last user message (with the types and sizes of its files) or of a
 * tool's result after it.
 *
 * If a system message contains an object to fill, such as `{"verdict": "publish|discard", "score": 0-10, "reason":
 * "..."}`, the answer to a user message is that object, filled, and with the label in a further field `provider`.
 * Alternatives `a|b` become the one that the user's text mentions most often, else the first. A range `0-10` becomes a
 * number derived from the text's length. Anything else becomes a labelled echo. A schema in `response_format` is filled
 * in a similar way, also after a tool's result; then there is no field `provider`.
 */
export function sandboxAnswer(messages: ChatMessage[], format?: ResponseFormat): string {
  const user = textOf(messages.findLast(({ role }) => role === 'user')?.content ?? '');
  const schema = format?.json_schema?.schema;
  if (schema !== undefined) return JSON.stringify(fillSchema(schema, user));
  const last = messages.at(-1);
  if (last?.role === 'tool') return `${LABEL} The tool said: ${shorten(textOf(last.content))}`;
  const system = messages.filter(({ role }) => role === 'system' || role === 'developer');
  const shape = findShape(system.map(({ content }) => textOf(content)).join('\n'));
  if (shape === undefined) return `${LABEL} ${shorten(user) || '(no user message)'}`;
  const filled = Object.entries(shape).map(([field, hint]) => [field, fill(hint, user)]);
  return JSON.stringify({ ...Object.fromEntries(filled), provider: LABEL });
}

/** Returns the text of a message after descriptions of its files. Files come first, because a long echo is cut. */
export function textOf(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content;
  const parts = content ?? [];
  const files = parts.filter(({ type }) => type !== 'text').map((part) => `${fileIn(part)} `);
  return [...files, ...parts.map(({ text = '' }) => text)].join('');
}

/** Describes a file by name, type and size in bytes. */
function fileIn({ image_url: image, file }: ContentPart): string {
  const [, type = 'a file', base64 = ''] =
    /^data:([^;,]*);base64,(.*)$/s.exec(String(image?.url ?? file?.file_data)) ?? [];
  const name = typeof file?.filename === 'string' ? `${file.filename}: ` : '';
  return `[${name}${type}, ${Buffer.from(base64, 'base64').length} bytes]`;
}

export interface ToolCall {
  name: string;
  /** JSON text. */
  arguments: string;
}

/**
 * Returns the next tool call that the last user message requests: the message contains names of tools, each followed
 * by a JSON object of arguments (else `{}`). Each named tool is called once, in the order of the text. Returns
 * undefined if the whole conversation already has as many results of tools as the message has names.
 */
export function sandboxToolCall(messages: ChatMessage[], tools: string[]): ToolCall | undefined {
  const user = textOf(messages.findLast(({ role }) => role === 'user')?.content ?? '');
  const named = namedTools(user, tools);
  const at = messages.filter(({ role }) => role === 'tool').length;
  const next = named[at];
  if (next === undefined) return undefined;
  const text = named.length === 1 ? user : user.slice(next.from, named[at + 1]?.from);
  return { name: next.name, arguments: JSON.stringify(findObject(text)) };
}

interface NamedTool {
  name: string;
  /** Where the name begins in the text. */
  from: number;
}

function namedTools(text: string, tools: readonly string[]): NamedTool[] {
  const found: NamedTool[] = [];
  // A name of a tool inside the arguments is not a request to call the tool.
  let rest = text.replaceAll(/\{[^{}]*\}/g, (part) => ' '.repeat(part.length));
  // Longer names come first, because a text with `get-sum` also contains `get`.
  for (const name of tools.filter((each) => each !== '').toSorted((a, b) => b.length - a.length)) {
    const from = rest.indexOf(name);
    if (from < 0) continue;
    found.push({ name, from });
    rest = rest.replaceAll(name, ' '.repeat(name.length));
  }
  return found.toSorted((a, b) => a.from - b.from);
}

function findObject(text: string): object {
  try {
    const found: unknown = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
    return typeof found === 'object' && found !== null ? found : {};
  } catch {
    return {};
  }
}

/**
 * Returns the flat JSON object in the first braces of a text, with all values as strings, also bare ranges such as
 * `0-10`. Returns undefined if the braces contain anything else, or nothing.
 */
function findShape(text: string): Record<string, string> | undefined {
  const start = text.indexOf('{');
  const end = text.indexOf('}', start);
  if (start < 0 || end < 0) return undefined;
  const candidate = text.slice(start, end + 1).replaceAll(/:\s*(\d+-\d+)/g, ': "$1"');
  try {
    const shape = JSON.parse(candidate) as Record<string, unknown>;
    const entries = Object.entries(shape).map(([field, hint]) => [field, String(hint)] as const);
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  } catch {
    return undefined;
  }
}

function fill(hint: string, user: string): string | number {
  const range = /^(\d+)-(\d+)$/.exec(hint);
  if (range !== null) return numberBetween(Number(range[1]), Number(range[2]), user);
  const choices = hint.split('|').map((choice) => choice.trim());
  return choices.length < 2 ? shortEcho(user) : mostMentioned(choices, user);
}

function fillSchema({ type, enum: choices, properties = {}, minimum = 0, maximum = 10 }: Shape, user: string): unknown {
  if (Array.isArray(choices) && choices.length > 0) return mostMentioned(choices, user);
  const types = [type].flat();
  if (types.includes('number') || types.includes('integer')) return numberBetween(minimum, maximum, user);
  if (types.includes('boolean')) return true;
  if (types.includes('array')) return [];
  if (types.includes('string')) return shortEcho(user);
  const filled = Object.entries(properties).map(([field, shape]) => [field, fillSchema(shape, user)]);
  return Object.fromEntries(filled);
}

function numberBetween(low: number, high: number, user: string): number {
  return low + (user.length % Math.max(1, high - low + 1));
}

function shortEcho(user: string): string {
  return `${LABEL} ${shorten(user, 160)}`;
}

/** Returns the choice that the user mentions most often, or the first one of several. */
function mostMentioned<Choice>(choices: readonly Choice[], user: string): Choice {
  const lower = user.toLowerCase();
  const mentions = (choice: Choice): number => lower.split(String(choice).toLowerCase()).length;
  return choices.reduce((best, choice) => (mentions(choice) > mentions(best) ? choice : best));
}

function shorten(text: string, length = ECHO_CHARACTERS): string {
  const trimmed = text.trim();
  return trimmed.length <= length ? trimmed : `${cutText(trimmed, length - 3)}...`;
}
