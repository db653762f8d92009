// Plays a task with recorded answers, or with a model of the service.
import type { Builder } from './builder.js';
import type { Task } from './task.js';

export interface Played {
  /** The last words of the assistant. */
  said: string;
  refusals: string[];
  tokens: { input: number; output: number };
}

const NO_TOKENS = { input: 0, output: 0 };

/** Repeats the recorded turns of an assistant. The calls use the real tools. */
export async function playRecorded(builder: Builder, { recorded }: Pick<Task, 'recorded'>): Promise<Played> {
  const played: Played = { said: '', refusals: [], tokens: NO_TOKENS };
  for (const turn of recorded) {
    if ('say' in turn) {
      played.said = turn.say;
      continue;
    }
    for (const { tool, arguments: input } of turn.calls) {
      const { text, isError } = await builder.use(tool, filledIn(input, builder.known) as Record<string, unknown>);
      if (isError) played.refusals.push(`${tool}: ${text}`);
    }
  }
  return played;
}

/** Replaces each text that is exactly `$NAME` by the known value of that name. */
function filledIn(value: unknown, known: Record<string, unknown>): unknown {
  if (typeof value === 'string') return value.startsWith('$') ? (known[value.slice(1)] ?? value) : value;
  if (Array.isArray(value)) return value.map((item) => filledIn(item, known));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, filledIn(member, known)]));
}

interface Model {
  url: string;
  apiKey: string;
  name: string;
  project: number;
}

interface ToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

interface Message {
  role: string;
  content: string | null;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
}

/** More turns than a good model needs for any of the tasks. */
const MOST_TURNS = 40;

/** Lets a model use the tools until it answers with words alone. */
export async function playModel(builder: Builder, task: Pick<Task, 'words'>, model: Model): Promise<Played> {
  const tools = builder.tools.map(({ name, description, inputSchema: parameters }) => {
    return { type: 'function', function: { name, description, parameters } };
  });
  const place = `You work in project ${model.project}. Nobody answers questions: do what can be done, then say what is missing.`;
  const messages: Message[] = [
    { role: 'system', content: `${builder.instructions}\n${place}` },
    { role: 'user', content: task.words },
  ];
  const played: Played = { said: '', refusals: [], tokens: { ...NO_TOKENS } };
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const { message, usage } = await complete(model, { model: model.name, messages, tools });
    played.tokens.input += usage?.prompt_tokens ?? 0;
    played.tokens.output += usage?.completion_tokens ?? 0;
    messages.push(message);
    if (message.content) played.said = message.content;
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) return played;
    for (const { id, function: called } of calls) {
      const { text, isError } = await answer(builder, called);
      if (isError) played.refusals.push(`${called.name}: ${text}`);
      messages.push({ role: 'tool', tool_call_id: id, content: text });
    }
  }
  return played;
}

function answer(builder: Builder, { name, arguments: sent }: ToolCall['function']) {
  try {
    return builder.use(name, JSON.parse(sent === '' ? '{}' : sent) as Record<string, unknown>);
  } catch {
    return { text: 'The arguments are no JSON.', isError: true };
  }
}

interface Completion {
  message: Message;
  usage?: { prompt_tokens: number; completion_tokens: number };
}

async function complete({ url, apiKey, project }: Model, body: object): Promise<Completion> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json', 'X-Project-Id': String(project) },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the model was not asked: ${response.status} ${text.slice(0, 500)}`);
  const { choices, usage } = JSON.parse(text) as { choices: { message: Message }[] } & Pick<Completion, 'usage'>;
  const [choice] = choices;
  if (choice === undefined) throw new Error('the model has answered nothing');
  return { message: choice.message, ...(usage && { usage }) };
}
