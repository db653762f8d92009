// A text with a NUL, or with half of a character that has two code units, cannot be stored: PostgreSQL refuses to read it.

/** Returns the text with U+FFFD in place of what cannot be stored. */
export function toStorable(text: string): string {
  return text.replace(/\0|\p{Surrogate}/gu, '\uFFFD');
}

/** Does that with JSON text that `writeJson` has written. An escaped backslash before `u0000` is no NUL. */
export function toStorableJson(json: string): string {
  return json.replace(/\\(?:\\|u0000|ud[89a-f][0-9a-f]{2})/g, (escape) => (escape === '\\\\' ? escape : '\\ufffd'));
}
