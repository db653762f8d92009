/** Returns true if a body of this `Content-Type` is a stream of server-sent events. */
export function isEventStream(contentType: string | string[] | null | undefined): boolean {
  return /^\s*text\/event-stream\b/i.test(String(contentType));
}
