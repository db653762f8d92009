/** `X-Accel-Buffering` asks proxies not to buffer the stream. */
export const EVENT_STREAM_HEADERS = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };

/**
 * Keeps an idle stream open. Some clients emit an event at every empty line, even without data, so this comment ends in
 * one line end, not two.
 */
export const COMMENT = ':\n';
