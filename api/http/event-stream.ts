/** Proxies that gather answers before they pass them on are asked not to. */
export const EVENT_STREAM_HEADERS = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };

/**
 * Keeps a stream open that has nothing to tell. Some clients hand on an event at every empty line, even where it has no data, so
 * a comment ends in one line end.
 */
export const COMMENT = ':\n';
