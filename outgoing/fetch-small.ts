/** No issuer of tokens answers with more, and what it answers is held in memory. */
export const MOST_BYTES = 256 * 1024;

/**
 * Works like `fetch` for the issuers that the operator names, whose answers libraries read whole. The body has come when the
 * promise resolves. It rejects when the body is larger than 256 KiB.
 */
export async function fetchSmall(url: string, init: RequestInit): Promise<Response> {
  const answer = await fetch(url, init);
  if (answer.body === null) return answer;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    // Leaving the loop ends the connection.
    if (bytes > MOST_BYTES) throw new Error(`The answer of ${new URL(url).origin} is larger than ${MOST_BYTES} bytes.`);
    pieces.push(piece);
  }
  const { status, statusText, headers } = answer;
  return new Response(Buffer.concat(pieces), { status, statusText, headers });
}
