// Joins the deltas of a streamed answer into the message that an answer in one piece would have had, including
// fields that only its provider knows.
import { isObject, ownValue, type JsonObject } from '../../../graph/json.js';
import { isDeeperThan, MAX_RESULT_DEPTH } from '../../../graph/json-depth.js';
import { textOfContent } from '../../../graph/message-text.js';
import { NodeFailure } from '../../node/failures.js';
import { JoinedCalls } from './join-calls.js';
import { joinFields, placedItem } from './join-values.js';

/** The memory of a call without its fields, in characters. */
const CALL_CHARACTERS = 100;
/** The fields of a delta that are not joined as the others are. */
const JOINED_APART = new Set(['role', 'tool_calls']);

export class JoinedMessage {
  readonly #message: JsonObject = { role: 'assistant', content: null };
  readonly #calls = new JoinedCalls();
  readonly #count: (characters: number) => void;

  /** `count` receives the growth of the message in characters, and throws if the message becomes too large. */
  constructor(count: (characters: number) => void) {
    this.#count = count;
  }

  /** Returns the text that the delta adds to the content. */
  add(delta: JsonObject): string {
    if (isDeeperThan(delta, MAX_RESULT_DEPTH)) {
      throw new NodeFailure('invalid_response', 'The answer of the provider is nested too deeply.');
    }
    const { tool_calls: calls } = delta;
    for (const call of Array.isArray(calls) ? calls : []) {
      if (!isObject(call)) continue;
      this.#count(JSON.stringify(call).length + (this.#calls.add(call) ? CALL_CHARACTERS : 0));
    }
    // Ignores nulls, by which some providers mean an unchanged field.
    const fields = Object.entries(delta).filter(([name, value]) => value !== null && !JOINED_APART.has(name));
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

  /** Returns the text of a delta's content. A part that continues another one may omit its type. */
  #textOf(content: unknown): string {
    if (!Array.isArray(content)) return textOfContent(content) ?? '';
    const parts = content.map((part: unknown) => {
      const continued = placedItem(this.#message['content'], part);
      return continued === undefined ? part : { ...(part as JsonObject), type: continued['type'] };
    });
    return textOfContent(parts) ?? '';
  }
}
