// The beginning of a text that is too long to be shown whole.

export const SHOWN_BYTES = 64 * 1024;

export interface Part {
  text: string;
  isWhole: boolean;
}

/** As many characters as fit into `maxBytes` of UTF-8; none is cut in two. */
export function partOf(text: string, maxBytes = SHOWN_BYTES): Part {
  // No character takes more than three bytes for each of its units.
  if (text.length * 3 <= maxBytes) return { text, isWhole: true };
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return read === text.length ? { text, isWhole: true } : { text: text.slice(0, read), isWhole: false };
}
