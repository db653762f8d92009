/** No token issuer needs more, and the answer is held in memory. */
export const MOST_BYTES = 256 * 1024;

/**
 * A `fetch` for the token issuers that the operator configures, because libraries read their answers whole. Resolves
 * when the body has been read. Rejects if the body is larger than 256 KiB.
 */
export async function fetchSmall(url: string, init: RequestInit): Promise<Response> {
  const answer = await fetch(url, init);
  if (answer.body === null) return answer;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    // Leaving the loop closes the connection.
    if (bytes > MOST_BYTES) throw new Error(`The answer of ${new URL(url).origin} is larger than ${MOST_BYTES} bytes.`);
    pieces.push(piece);
  }
  const { status, statusText, headers } = answer;
  return new Response(Buffer.concat(pieces), { status, statusText, headers });
}
