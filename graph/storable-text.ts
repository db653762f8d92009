// PostgreSQL refuses texts with a NUL or with half a surrogate pair.

/** Returns the text with U+FFFD for every character that cannot be stored. */
export function toStorable(text: string): string {
  return text.replace(/\0|\p{Surrogate}/gu, '\uFFFD');
}

/**
 * Returns JSON text of `writeJson` with U+FFFD for every character that cannot be stored. An escaped backslash before
 * `u0000` is not a NUL.
 */
export function toStorableJson(json: string): string {
  return json.replace(/\\(?:\\|u0000|ud[89a-f][0-9a-f]{2})/g, (escape) => (escape === '\\\\' ? escape : '\\ufffd'));
}
