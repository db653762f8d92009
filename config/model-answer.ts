// Reads the errors that providers write instead of an answer. They agree neither on the shape of an error nor on its status.

const MAX_DEPTH = 8;
const MAX_SENTENCES = 10;

type Fields = Record<string, unknown>;

/**
 * Returns the sentence that says what is wrong, wherever it stands in JSON that a provider has sent. Of several, those of a
 * validation, each follows the place that it names (`loc`).
 */
export function sentenceIn(said: unknown, depth = 0): string | undefined {
  if (typeof said === 'string') return said.trim() || undefined;
  if (depth > MAX_DEPTH || typeof said !== 'object' || said === null) return undefined;
  if (Array.isArray(said)) {
    const found = said.slice(0, MAX_SENTENCES).map((item) => sentenceIn(item, depth + 1));
    return found.filter((sentence) => sentence !== undefined).join('; ') || undefined;
  }
  const { error, message, detail, msg, errors, error_description: description, loc } = said as Fields;
  // An error that is a text beside a message is only the name of the status.
  const [inside, text] = typeof error === 'string' ? [undefined, error] : [error, undefined];
  for (const part of [inside, message, detail, msg, errors, description, text]) {
    const sentence = sentenceIn(part, depth + 1);
    if (sentence !== undefined) return [placeIn(loc), sentence].filter(Boolean).join(': ');
  }
  return undefined;
}

/** An object may have no text: `String` throws for one with a `toString` that is no function. */
function placeIn(loc: unknown): string {
  const steps: unknown[] = Array.isArray(loc) ? loc : [];
  return steps.filter((step) => typeof step === 'string' || typeof step === 'number').join('.');
}

/** A failure that an answer with the status 200 tells. */
export interface ToldFailure {
  /** The HTTP status that it stands for; undefined where its code is none. */
  status: number | undefined;
  sentence: string | undefined;
}

/** Returns the failure that a completion tells; undefined where it tells none. */
export function failureIn(answer: unknown): ToldFailure | undefined {
  const error = errorIn(answer);
  if (error !== undefined) return error;
  const hasFailed = choicesOf(answer).some((choice) => choice['finish_reason'] === 'error');
  return hasFailed ? { status: 502, sentence: undefined } : undefined;
}

/** Returns the error that a completion, or a chunk of one, holds. */
export function errorIn(answer: unknown): ToldFailure | undefined {
  const only: unknown = Array.isArray(answer) && answer.length === 1 ? answer[0] : answer;
  const { error, object } = fieldsOf(only);
  const ofChoices = choicesOf(only).map((choice) => choice['error']);
  const told = [error, ...ofChoices, object === 'error' ? only : undefined].find(saysSomething);
  return told === undefined ? undefined : { status: statusIn(told) ?? statusIn(only), sentence: sentenceIn(told) };
}

/** Returns what an event with the name `error` says: JSON, or a text. */
export function failureOf(said: unknown): ToldFailure {
  return errorIn(said) ?? { status: statusIn(said), sentence: sentenceIn(said) };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function choicesOf(answer: unknown): Fields[] {
  const { choices } = fieldsOf(answer);
  return Array.isArray(choices) ? choices.map(fieldsOf) : [];
}

/** Some gateways write an empty error into each answer. */
function saysSomething(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(Boolean);
  return value === true || (typeof value === 'string' && value.trim() !== '');
}

function statusIn(said: unknown): number | undefined {
  const { code, status, status_code: statusCode } = fieldsOf(said);
  const statuses = [code, status, statusCode].map((value) => {
    return typeof value === 'number' || (typeof value === 'string' && /^\d{3}$/.test(value))
      ? Number(value)
      : undefined;
  });
  return statuses.find((value) => value !== undefined && Number.isInteger(value) && value >= 400 && value <= 599);
}

/** Whether a chunk of a stream brings text or calls: the provider has worked for them. */
export function hasWords(chunk: unknown): boolean {
  return choicesOf(chunk).some((choice) => {
    return Object.entries(fieldsOf(choice['delta'])).some(([name, part]) => name !== 'role' && isNotEmpty(part));
  });
}

function isNotEmpty(part: unknown): boolean {
  if (typeof part === 'object' && part !== null) return Object.keys(part).length > 0;
  return typeof part === 'string' && part !== '';
}

/** Whether an answer in one piece has a message. */
export function hasMessage(answer: unknown): boolean {
  return choicesOf(answer).some(({ message }) => typeof message === 'object' && message !== null);
}
