// Cuts texts between two characters. Half a surrogate pair can neither be stored nor sent. Lengths are UTF-16 code units.

const HIGH_HALF = /[\uD800-\uDBFF]/;
const LOW_HALF = /[\uDC00-\uDFFF]/;

/** Returns the beginning of the text: `most` units, or one less where a pair would be cut. */
export function cutText(text: string, most: number): string {
  return text.slice(0, isWithinPair(text, most) ? most - 1 : most);
}

/** Returns the end of the text: `most` units, or one less where a pair would be cut. */
export function endOfText(text: string, most: number): string {
  const start = Math.max(0, text.length - most);
  return text.slice(isWithinPair(text, start) ? start + 1 : start);
}

function isWithinPair(text: string, at: number): boolean {
  return at > 0 && HIGH_HALF.test(text.charAt(at - 1)) && LOW_HALF.test(text.charAt(at));
}
