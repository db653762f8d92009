// Tells the errors of providers from their answers. Providers agree neither on the form of an error nor on its status.

const MAX_DEPTH = 8;
const MAX_SENTENCES = 10;

type Fields = Record<string, unknown>;

/**
 * Returns the sentence that describes the error, from the first of the usual fields that has one. Joins the sentences
 * of a list of validation errors, each after its place (`loc`).
 */
export function sentenceIn(json: unknown, depth = 0): string | undefined {
  if (typeof json === 'string') return json.trim() || undefined;
  if (depth > MAX_DEPTH || typeof json !== 'object' || json === null) return undefined;
  if (Array.isArray(json)) {
    const found = json.slice(0, MAX_SENTENCES).map((item) => sentenceIn(item, depth + 1));
    return found.filter((sentence) => sentence !== undefined).join('; ') || undefined;
  }
  const { error, message, detail, msg, errors, error_description: description, loc } = json as Fields;
  // A text in `error` beside a message only repeats the name of the status, so it comes last.
  const [inside, text] = typeof error === 'string' ? [undefined, error] : [error, undefined];
  for (const part of [inside, message, detail, msg, errors, description, text]) {
    const sentence = sentenceIn(part, depth + 1);
    if (sentence !== undefined) return [placeIn(loc), sentence].filter(Boolean).join(': ');
  }
  return undefined;
}

/** Uses only text and numbers: `String` throws for an object whose `toString` is not a function. */
function placeIn(loc: unknown): string {
  const steps: unknown[] = Array.isArray(loc) ? loc : [];
  return steps.filter((step) => typeof step === 'string' || typeof step === 'number').join('.');
}

/** A failure that an answer reports although its own status is no error. */
export interface ReportedFailure {
  /** The HTTP status of the failure, from 400 to 599; undefined if the answer names none. */
  status: number | undefined;
  sentence: string | undefined;
}

/** Returns the failure that a completion or a chunk of one reports, as an error or by `finish_reason` alone. */
export function failureIn(answer: unknown): ReportedFailure | undefined {
  const error = errorIn(answer);
  if (error !== undefined) return error;
  const hasFailed = choicesOf(answer).some((choice) => choice['finish_reason'] === 'error');
  return hasFailed ? { status: 502, sentence: undefined } : undefined;
}

/** Returns the error in a completion or in a chunk of one. */
export function errorIn(answer: unknown): ReportedFailure | undefined {
  const only: unknown = Array.isArray(answer) && answer.length === 1 ? answer[0] : answer;
  const { error, object } = fieldsOf(only);
  const ofChoices = choicesOf(only).map((choice) => choice['error']);
  const reported = [error, ...ofChoices, object === 'error' ? only : undefined].find(isNotBlank);
  return reported === undefined
    ? undefined
    : { status: statusIn(reported) ?? statusIn(only), sentence: sentenceIn(reported) };
}

/** Returns the failure that the data of an event named `error` describes. The data is JSON or text. */
export function failureOf(json: unknown): ReportedFailure {
  return errorIn(json) ?? { status: statusIn(json), sentence: sentenceIn(json) };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function choicesOf(answer: unknown): Fields[] {
  const { choices } = fieldsOf(answer);
  return Array.isArray(choices) ? choices.map(fieldsOf) : [];
}

/** Some gateways write an empty error into each answer. */
function isNotBlank(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(Boolean);
  return value === true || (typeof value === 'string' && value.trim() !== '');
}

function statusIn(json: unknown): number | undefined {
  const { code, status, status_code: statusCode } = fieldsOf(json);
  const statuses = [code, status, statusCode].map((value) => {
    return typeof value === 'number' || (typeof value === 'string' && /^\d{3}$/.test(value))
      ? Number(value)
      : undefined;
  });
  return statuses.find((value) => value !== undefined && Number.isInteger(value) && value >= 400 && value <= 599);
}

/** Returns true if an answer, or a chunk of a stream, contains text or calls, for which the provider charges. */
export function hasWords(answer: unknown): boolean {
  return choicesOf(answer).some(({ delta, message }) => {
    return [delta, message].some((said) => {
      return Object.entries(fieldsOf(said)).some(([name, part]) => name !== 'role' && isNotEmpty(part));
    });
  });
}

function isNotEmpty(part: unknown): boolean {
  if (typeof part === 'object' && part !== null) return Object.keys(part).length > 0;
  return typeof part === 'string' && part !== '';
}

/** Returns true if an answer in one piece has a message. */
export function hasMessage(answer: unknown): boolean {
  return choicesOf(answer).some(({ message }) => typeof message === 'object' && message !== null);
}
