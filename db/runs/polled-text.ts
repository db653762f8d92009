// How the text of an open run's nodes is put together by a poll's statement, and taken apart by the API.

/**
 * An open run's nodes are put together with those of which only its workflow knows, so that they come apart: by two
 * characters that no JSON text holds, for strings in it have control characters as escapes only.
 */
export const AFTER_NODE = '\u001E';
export const AFTER_ID = '\u001F';

/** `PolledText.nodes` of an open run: id and JSON text of each. */
export function splitNodes(text: string): [id: string, entry: string][] {
  const members = text.slice(1, -1);
  if (members === '') return [];
  return members.split(AFTER_NODE).map((member) => {
    const [id, entry] = member.split(AFTER_ID) as [string, string];
    return [JSON.parse(id) as string, entry];
  });
}
