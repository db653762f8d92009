// Takes the events of an answer as they come from the socket. The body of an answer of `fetch` is a web stream, which costs more
// for each piece than all else that is done with it.
import { DecoratorHandler, type Dispatcher } from 'undici';
import { isEventStream } from './event-stream-type.js';

/**
 * Returns a dispatcher for one request. If its answer is a stream of events, `take` gets the bytes, and the body that `fetch`
 * returns is empty: it ends when the answer ends, and fails when that breaks off. Any other answer is left alone. `take` must
 * not throw.
 */
export function takingEvents(dispatcher: Dispatcher, take: (piece: Uint8Array) => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, new TakingHandler(handler, take)));
}

type Handler = Dispatcher.DispatchHandler;
type StartOf = Required<Handler>['onResponseStart'];

class TakingHandler extends DecoratorHandler implements Handler {
  readonly #handler: Handler;
  readonly #take: (piece: Uint8Array) => void;
  #hasEvents = false;

  constructor(handler: Handler, take: (piece: Uint8Array) => void) {
    super(handler);
    this.#handler = handler;
    this.#take = take;
  }

  onResponseStart(...[controller, status, headers, message]: Parameters<StartOf>): void {
    const isPlain = headers['content-encoding'] === undefined;
    this.#hasEvents = status === 200 && isPlain && isEventStream(headers['content-type']);
    this.#handler.onResponseStart?.(controller, status, headers, message);
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#hasEvents) this.#take(piece);
    else this.#handler.onResponseData?.(controller, piece);
  }
}
