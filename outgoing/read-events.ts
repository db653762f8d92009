// Reads the events of an answer directly from the socket, because the web stream that `fetch` returns costs more for
// each piece than the rest of its processing.
import { DecoratorHandler, type Dispatcher } from 'undici';
import { isEventStream } from './event-stream-type.js';

/**
 * Returns a dispatcher for one request. If the answer has the status 200 and is a stream of events without a
 * `content-encoding`, `read` receives the bytes, and the body that `fetch` returns is empty. The body ends with the
 * answer, and fails if the answer breaks off. Any other answer passes unchanged. `read` must not throw.
 */
export function readingEvents(dispatcher: Dispatcher, read: (piece: Uint8Array) => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, new EventHandler(handler, read)));
}

type Handler = Dispatcher.DispatchHandler;
type StartOf = Required<Handler>['onResponseStart'];

class EventHandler extends DecoratorHandler implements Handler {
  readonly #handler: Handler;
  readonly #read: (piece: Uint8Array) => void;
  #hasEvents = false;

  constructor(handler: Handler, read: (piece: Uint8Array) => void) {
    super(handler);
    this.#handler = handler;
    this.#read = read;
  }

  onResponseStart(...[controller, status, headers, message]: Parameters<StartOf>): void {
    const isPlain = headers['content-encoding'] === undefined;
    this.#hasEvents = status === 200 && isPlain && isEventStream(headers['content-type']);
    this.#handler.onResponseStart?.(controller, status, headers, message);
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#hasEvents) this.#read(piece);
    else this.#handler.onResponseData?.(controller, piece);
  }
}
