// The fields of a request that a provider has refused: a call is repeated without such a field, and later calls of the model
// leave it out.
import { APIError } from 'openai';
import { LRUCache } from 'lru-cache';

export interface RefusedFields {
  /** Whether the model has refused the field. */
  has(model: string, field: string): boolean;
  /**
   * Returns the field that the refusal names, and remembers it for the model. Undefined for errors that are no refusals of the
   * request, and where none of the candidates is named. If several are named, the first candidate counts.
   */
  learn(model: string, error: unknown, candidates: Iterable<string>): string | undefined;
  /** Leaving the field out has not helped. */
  forget(model: string, field: string): void;
}

/** How many fields of all models are remembered, and how long: a provider may learn to take a field. */
const MEMORY = { max: 1_000, ttl: 3_600_000 };
/** These refuse the caller or the moment, whatever the request has. */
const NOT_OF_FIELDS = new Set([401, 403, 408, 409, 429]);

export function createRefusedFields(): RefusedFields {
  const refused = new LRUCache<string, true>(MEMORY);
  const keyOf = (model: string, field: string): string => JSON.stringify([model, field]);
  return {
    has: (model, field) => refused.has(keyOf(model, field)),
    forget: (model, field) => void refused.delete(keyOf(model, field)),
    learn(model, error, candidates) {
      if (!isRefusal(error)) return undefined;
      const said = `${error.param ?? ''} ${error.message}`;
      for (const field of candidates) {
        if (!names(said, field)) continue;
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

/** Whether the text has the field as a word, in whatever case: as a part of a path, quoted, or in a sentence. */
function names(text: string, field: string): boolean {
  const [said, word] = [text.toLowerCase(), field.toLowerCase()];
  if (word === '') return false;
  for (let at = said.indexOf(word); at !== -1; at = said.indexOf(word, at + word.length)) {
    if (!isOfWord(said[at - 1]) && !isOfWord(said[at + word.length])) return true;
  }
  return false;
}

function isOfWord(character: string | undefined): boolean {
  return character !== undefined && /\w/.test(character);
}
