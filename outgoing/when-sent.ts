// Reports the moment at which a request is sent. Reports nothing if the connection fails.
import { DecoratorHandler, type Dispatcher } from 'undici';

/** Returns a dispatcher for one request. `onSent` is called before its first byte is sent. */
export function whenSent(dispatcher: Dispatcher, onSent: () => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, new SentHandler(handler, onSent)));
}

class SentHandler extends DecoratorHandler implements Dispatcher.DispatchHandler {
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

  /** Passes every call on: interim answers, such as 103, may precede the final one. */
  onResponseStart(...args: Parameters<Required<Dispatcher.DispatchHandler>['onResponseStart']>): void {
    this.#handler.onResponseStart?.(...args);
  }
}
