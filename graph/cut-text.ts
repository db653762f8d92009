// Cuts texts between two characters, because half a surrogate pair can neither be stored nor sent. Lengths are UTF-16
// code units.

const HIGH_HALF = /[\uD800-\uDBFF]/;
const LOW_HALF = /[\uDC00-\uDFFF]/;

/** Returns the first `most` units of the text, or one less if that would cut a pair. */
export function cutText(text: string, most: number): string {
  return text.slice(0, isWithinPair(text, most) ? most - 1 : most);
}

/** Returns the last `most` units of the text, or one less if that would cut a pair. */
export function endOfText(text: string, most: number): string {
  const start = Math.max(0, text.length - most);
  return text.slice(isWithinPair(text, start) ? start + 1 : start);
}

function isWithinPair(text: string, at: number): boolean {
  return at > 0 && HIGH_HALF.test(text.charAt(at - 1)) && LOW_HALF.test(text.charAt(at));
}
