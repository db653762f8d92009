// The beginning of a long text, for a screen that should not be filled by it.

export interface Part {
  text: string;
  isWhole: boolean;
}

/** Whole where it is short; else its first lines, at a character's boundary. */
export function beginningOf(text: string, mostLines: number, mostCharacters: number): Part {
  const lines = text.split('\n', mostLines + 1);
  const few = lines.length > mostLines ? lines.slice(0, mostLines).join('\n') : text;
  if (few.length <= mostCharacters) return { text: few, isWhole: few.length === text.length };
  const isSplit = /[\uD800-\uDBFF]/.test(few.charAt(mostCharacters - 1));
  return { text: few.slice(0, isSplit ? mostCharacters - 1 : mostCharacters), isWhole: false };
}
