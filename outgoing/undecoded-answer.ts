import { DecoratorHandler, type Dispatcher } from 'undici';

/** Under this name the `content-encoding` of an answer is found. */
export const ENCODING_HEADER = 'x-encoding-of-answer';

type AnswerStart = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>;
type Handler = new (
  handler: Dispatcher.DispatchHandler,
) => Dispatcher.DispatchHandler & { onResponseStart(...start: AnswerStart): void };

/** Hides the encoding of answers from `fetch`, whose decoders have no limit and outlive the request. */
class UndecodedAnswer extends (DecoratorHandler as Handler) {
  override onResponseStart(...[controller, status, headers, text]: AnswerStart): void {
    // Any number of informational answers may come before the last one, and fetch ignores them.
    if (status < 200) return;
    const { 'content-encoding': encoding, [ENCODING_HEADER]: _sent, ...rest } = headers;
    const hidden = encoding === undefined ? rest : { ...rest, [ENCODING_HEADER]: encoding };
    super.onResponseStart(controller, status, hidden, text);
  }
}

export function withoutDecoding(dispatch: Dispatcher['dispatch']): Dispatcher['dispatch'] {
  return (options, handler) => dispatch(options, new UndecodedAnswer(handler));
}
