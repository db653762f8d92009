// The known reasons why the request of an action differs from that of a generated client.
import type { ChosenOperation } from './chosen-operations.js';

interface Known {
  reason: string;
  applies: (why: string, operation: ChosenOperation) => boolean;
}

const KNOWN: Known[] = [
  {
    reason:
      'The document describes a parameter by `content` as JSON; the client writes lists with commas, objects with brackets.',
    applies: (why, { parameters }) => why.startsWith('query: ') && parameters.some(({ hasContent }) => hasContent),
  },
  {
    reason: 'A list in a form repeats its name, by the defaults of OpenAPI 3; the client joins it with commas.',
    applies: (why, { body }) => why.startsWith('body: [[') && /urlencoded/.test(body?.mediaType ?? '') && isJoined(why),
  },
  {
    reason: 'The client writes an object as `[object Object]` or `[object Blob]` into a body that is not JSON.',
    applies: (why) => /^body: .* and theirs .*\[object (Object|Blob)\]/.test(why),
  },
  {
    reason:
      'The document describes a multipart body without fields: the client sends none, the action its file as `file`.',
    applies: (why) =>
      /^content type: "multipart\/form-data" and theirs none; body: \[\["file",.*theirs none$/.test(why),
  },
  {
    reason: 'The header belongs to the connection between client and server, so it is no field of the action.',
    applies: (why) =>
      /^the action has no field for header (Transfer-Encoding|Connection|Host|Content-Length)$/i.test(why),
  },
];

/** True if the client has joined with commas the values that our form sends separately under one name. */
function isJoined(why: string): boolean {
  const [ours, theirs] = why.replace('body: ', '').split(' and theirs ');
  try {
    const values = new Map<string, string[]>();
    for (const [name, value] of JSON.parse(ours!) as [string, string][]) {
      values.set(name, [...(values.get(name) ?? []), value]);
    }
    const expected = [...values].map(([name, list]) => [name, list.join(',')]);
    return JSON.stringify(expected) === JSON.stringify(JSON.parse(theirs!));
  } catch {
    return false;
  }
}

export function reasonOf(why: string, operation: ChosenOperation): string | undefined {
  return KNOWN.find(({ applies }) => applies(why, operation))?.reason;
}
