// Reads the events of a model's stream, and ignores the comments that providers send between them.
import { createParser } from 'eventsource-parser';

interface ModelEventListeners {
  /**
   * Receives the data of each event that has any and is called `message` (the default) or `error`. `isError` is true
   * for the latter.
   */
  onData: (data: string, isError: boolean) => void;
  /** The limit on what is held of an incomplete event. A larger event is dropped, and `onTooLarge` is called. */
  maxCharacters: number;
  onTooLarge: () => void;
  /** Called for a line that is invalid in an event stream. */
  onWrongLine?: () => void;
}

export interface ModelEvents {
  feed(text: string): void;
  /** Call this after the last text, because some streams lack the empty line after the last event. */
  end(): void;
}

/** The listeners may throw; do not feed more text after that. */
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

/** Returns true if the text begins like a stream of events, regardless of its media type. */
export function looksLikeEvents(text: string): boolean {
  return /^\s*(?:(?:data|event|id|retry):|:)/.test(text);
}
