// Reads the events of a model's stream: what each provider sends between them says nothing.
import { createParser } from 'eventsource-parser';

interface ModelEventListeners {
  /** Gets the data of each event that says something. `isError`: by the event's name. */
  onData: (data: string, isError: boolean) => void;
  /** The length of a line, and of the data of an event. What is longer is given up with `onTooLarge`. */
  maxCharacters: number;
  onTooLarge: () => void;
  /** Called for a line that is none of the format. */
  onWrongLine?: () => void;
}

export interface ModelEvents {
  feed(text: string): void;
  /** The last event of some streams lacks the empty line behind it. */
  end(): void;
}

/** The listeners may throw; nothing may be fed then any more. */
export function createModelEvents(listeners: ModelEventListeners): ModelEvents {
  const { onData, maxCharacters, onTooLarge, onWrongLine } = listeners;
  const parser = createParser({
    maxBufferSize: maxCharacters,
    onEvent({ event = 'message', data }) {
      const isError = event === 'error';
      if ((isError || event === 'message') && data.trim() !== '') onData(data, isError);
    },
    onError({ type }) {
      if (type !== 'max-buffer-size-exceeded') return onWrongLine?.();
      onTooLarge();
      parser.reset();
    },
  });
  return { feed: (text) => parser.feed(text), end: () => parser.feed('\n\n') };
}

/** Whether a text is a stream of events, whatever its media type says. */
export function looksLikeEvents(text: string): boolean {
  return /^\s*(?:(?:data|event|id|retry):|:)/.test(text);
}
