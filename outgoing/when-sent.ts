// Tells when a request leaves: not while its connection is being made, and not where that fails.
import { DecoratorHandler, type Dispatcher } from 'undici';

/** Returns a dispatcher for one request. `onSent` is called before its first byte leaves. */
export function whenSent(dispatcher: Dispatcher, onSent: () => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, new TellingHandler(handler, onSent)));
}

class TellingHandler extends DecoratorHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #onSent: () => void;

  constructor(handler: Dispatcher.DispatchHandler, onSent: () => void) {
    super(handler);
    this.#handler = handler;
    this.#onSent = onSent;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#onSent();
    this.#handler.onRequestStart?.(controller, context);
  }

  /** An answer may begin several times: with interim ones, such as 103, before the real one. */
  onResponseStart(...given: Parameters<Required<Dispatcher.DispatchHandler>['onResponseStart']>): void {
    this.#handler.onResponseStart?.(...given);
  }
}
