/** Undefined for nothing, the number, or the text where it is none. */
export function parseNumber(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const number = Number(trimmed);
  return Number.isFinite(number) && /^[-+.\d]/.test(trimmed) ? number : text;
}
