// Turns a failed call into one sentence for people.
import { RunNotFoundError, RunRefusedError, ServiceError } from '../../clients/typescript/src/index.js';
import { toFieldWords } from '../ui/field-words.js';

/** `sentences` replaces the default sentence of a status: `{ 401: 'The password is wrong.' }`. */
export function explain(error: unknown, sentences: Readonly<Record<number, string>> = {}): string {
  if (error instanceof ServiceError) return sentences[error.status] ?? explainAnswer(error);
  if (error instanceof RunNotFoundError) return 'There is no such run, or its results have expired.';
  if (error instanceof RunRefusedError) return error.message;
  // `fetch` throws a TypeError if it gets no response.
  if (error instanceof TypeError) return 'The service cannot be reached. Check your connection.';
  return `Something went wrong in this page: ${error instanceof Error ? error.message : String(error)}`;
}

/** Returns the sentences of an error response by field, and an empty object for an error without fields. */
export function fieldErrors(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof ServiceError) || error.fields === undefined) return {};
  return Object.fromEntries(Object.entries(error.fields).map(([field, sentences]) => [field, inWords(sentences)]));
}

/** False only for a 400, which mostly refuses what was entered, so that the same call would be refused again. */
export function mayTryAgain(error: unknown): boolean {
  return !(error instanceof ServiceError && error.status === 400);
}

function inWords(sentences: readonly string[]): string {
  return sentences.map((sentence) => toFieldWords(sentence)).join(' ');
}

/** True if the requested object does not exist, the person may not see it, or the results of the run have expired. */
export function isNotFound(error: unknown): boolean {
  return error instanceof RunNotFoundError || (error instanceof ServiceError && error.status === 404);
}

function explainAnswer(error: ServiceError): string {
  const { status, detail } = error;
  switch (status) {
    case 401:
      return 'Your session has ended. Sign in again.';
    case 403:
      return `Your role does not permit this.${also(detail)}`;
    case 404:
      return 'Not found. It does not exist, or it is not shared with you.';
    case 412:
      return 'Somebody else has changed this meanwhile.';
    case 429:
      return `Too many requests. Try again ${inSeconds(error)}.`;
    case 502:
    case 503:
    case 504:
      return `The service is busy or restarting. Try again ${inSeconds(error)}.`;
    default:
      return status >= 500 ? explainFailure(error) : explainRefusal(error);
  }
}

function explainRefusal({ status, detail, fields }: ServiceError): string {
  const parts = Object.entries(fields ?? {}).map(([field, sentences]) => `${field}: ${inWords(sentences)}`);
  if (parts.length > 0) return parts.join(' ');
  return detail === '' ? `The service has refused this (${status}).` : detail;
}

function explainFailure({ requestId }: ServiceError): string {
  const id = requestId === undefined ? '' : ` Operators find the reason by the request id ${requestId}.`;
  return `The service has failed to do this.${id}`;
}

/** Returns the service's reason, unless it only repeats that the person has no permission. */
function also(detail: string): string {
  return detail === '' || detail.startsWith('You do not have permission') ? '' : ` ${detail}`;
}

function inSeconds({ retryAfterMs }: ServiceError): string {
  if (retryAfterMs === undefined) return 'in a moment';
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return seconds === 1 ? 'in 1 second' : `in ${seconds} seconds`;
}
