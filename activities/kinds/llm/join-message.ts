// Joins the deltas of a streamed answer to the message that the answer would have had in one piece, fields that only its
// provider knows included.
import { isObject, ownValue, type JsonObject } from '../../../graph/json.js';
import { isDeeperThan, MAX_JSON_DEPTH } from '../../../graph/json-depth.js';
import { textOfContent } from '../../../graph/message-text.js';
import { NodeFailure } from '../../node/failures.js';
import { JoinedCalls } from './join-calls.js';
import { joinFields, placedItem } from './join-values.js';

/** The memory that a call takes beside its fields, in characters. */
const CALL_CHARACTERS = 100;

export class JoinedMessage {
  readonly #message: JsonObject = { role: 'assistant', content: null };
  readonly #calls = new JoinedCalls();
  readonly #count: (characters: number) => void;

  /** `count` is told what the message grows by, and throws when that is too much. */
  constructor(count: (characters: number) => void) {
    this.#count = count;
  }

  /** Returns the text that the delta adds to the content. */
  add({ role: _role, tool_calls: calls, ...delta }: JsonObject): string {
    if (isDeeperThan([calls, delta], MAX_JSON_DEPTH)) {
      throw new NodeFailure('invalid_response', 'The answer of the provider is nested too deeply.');
    }
    for (const call of Array.isArray(calls) ? calls : []) {
      if (!isObject(call)) continue;
      this.#count(JSON.stringify(call).length + (this.#calls.add(call) ? CALL_CHARACTERS : 0));
    }
    // A null says nothing about a field.
    const fields = Object.entries(delta).filter(([, value]) => value !== null);
    for (const [name, value] of fields) this.#count(this.#growth(name, value));
    const text = this.#textOf(delta['content']);
    joinFields(this.#message, fields);
    return text;
  }

  toMessage(): JsonObject {
    const calls = this.#calls.toList();
    return { ...this.#message, ...(calls.length > 0 && { tool_calls: calls }) };
  }

  #growth(name: string, value: unknown): number {
    const ofName = ownValue(this.#message, name) === undefined ? name.length : 0;
    return ofName + (typeof value === 'string' ? value.length : JSON.stringify(value).length);
  }

  /** A part may continue another one without naming its type again. */
  #textOf(content: unknown): string {
    if (!Array.isArray(content)) return textOfContent(content) ?? '';
    const parts = content.map((part: unknown) => {
      const begun = placedItem(this.#message['content'], part);
      return begun === undefined ? part : { ...(part as JsonObject), type: begun['type'] };
    });
    return textOfContent(parts) ?? '';
  }
}
