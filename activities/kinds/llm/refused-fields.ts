// Remembers the fields of a request that a provider has refused. The call is repeated without such a field, and
// later calls of the model omit it.
import { APIError } from 'openai';
import { LRUCache } from 'lru-cache';

export interface RefusedFields {
  has(model: string, field: string): boolean;
  /**
   * Returns the field that the refusal names, and remembers it for the model. If several candidates are named, the
   * first one counts. Returns undefined if the error is no refusal of the request, or names no candidate.
   */
  learn(model: string, error: unknown, candidates: Iterable<string>): string | undefined;
  /** Call this if omitting the field has not helped, or if the provider requires the field. */
  forget(model: string, field: string): void;
}

/** Limits the remembered fields of all models, and the time, because a provider may start to accept a field. */
const MEMORY = { max: 1_000, ttl: 3_600_000 };
/** Statuses that do not depend on the request's fields: the caller is refused, or must retry later. */
const NOT_OF_FIELDS = new Set([401, 403, 408, 409, 429]);

export function createRefusedFields(): RefusedFields {
  const refused = new LRUCache<string, true>(MEMORY);
  const keyOf = (model: string, field: string): string => JSON.stringify([model, field]);
  return {
    has: (model, field) => refused.has(keyOf(model, field)),
    forget: (model, field) => void refused.delete(keyOf(model, field)),
    learn(model, error, candidates) {
      if (!isRefusal(error)) return undefined;
      const text = `${error.param ?? ''} ${error.message}`;
      for (const field of candidates) {
        if (!names(text, field)) continue;
        refused.set(keyOf(model, field), true);
        return field;
      }
      return undefined;
    },
  };
}

function isRefusal(error: unknown): error is APIError {
  if (!(error instanceof APIError) || typeof error.status !== 'number') return false;
  return error.status >= 400 && error.status < 500 && !NOT_OF_FIELDS.has(error.status);
}

/** Returns true if the text contains the field as a word in any case: in a path, quoted, or in a sentence. */
function names(text: string, field: string): boolean {
  const [lower, word] = [text.toLowerCase(), field.toLowerCase()];
  if (word === '') return false;
  for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + word.length)) {
    if (!isOfWord(lower[at - 1]) && !isOfWord(lower[at + word.length])) return true;
  }
  return false;
}

function isOfWord(character: string | undefined): boolean {
  return character !== undefined && /\w/.test(character);
}
