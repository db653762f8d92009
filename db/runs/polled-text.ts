// How the text of an open run's nodes is put together by a poll's statement, and taken apart by the API.

/**
 * An open run's nodes are put together with those of which only its workflow knows, so that they come apart: by two
 * characters that no JSON text holds, for strings in it have control characters as escapes only.
 */
export const AFTER_NODE = '\u001E';
export const AFTER_ID = '\u001F';

/**
 * Stands before and after the sealed token of a callback, in the same way: no text of a user or a model can look like it.
 * The API puts the callback's address in its place, or nothing.
 */
export const AROUND_TOKEN = '\u001D';

/** A sealed token of a callback, and the node that it belongs to. */
export interface SealedToken {
  tokenEnc: Buffer;
  row: [runId: string, path: string, nodeId: string];
}

/** The token in base64, a space, and its node as JSON. */
export function readSealedToken(text: string): SealedToken {
  const end = text.indexOf(' ');
  const row = JSON.parse(text.slice(end + 1)) as SealedToken['row'];
  return { tokenEnc: Buffer.from(text.slice(0, end), 'base64'), row };
}

/** `text` with each sealed token replaced by what `show` returns for it. */
export function replaceTokens(text: string, show: (token: SealedToken) => string): string {
  if (!text.includes(AROUND_TOKEN)) return text;
  const parts = text.split(AROUND_TOKEN);
  return parts.map((part, index) => (index % 2 === 1 ? show(readSealedToken(part)) : part)).join('');
}

/** `PolledText.nodes` of an open run: id and JSON text of each. */
export function splitNodes(text: string): [id: string, entry: string][] {
  const members = text.slice(1, -1);
  if (members === '') return [];
  return members.split(AFTER_NODE).map((member) => {
    const [id, entry] = member.split(AFTER_ID) as [string, string];
    return [JSON.parse(id) as string, entry];
  });
}
