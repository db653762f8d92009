/** Returns whether a body of this `Content-Type` is a stream of events. */
export function isEventStream(contentType: string | string[] | null | undefined): boolean {
  return /^\s*text\/event-stream\b/i.test(String(contentType));
}
