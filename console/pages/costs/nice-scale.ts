/** The marks of an axis from zero to at least `most`: three to six round numbers, as the texts that a person reads. */
export function marksOf(most: number): { value: number; text: string }[] {
  if (!(most > 0) || !Number.isFinite(most)) return [{ value: 0, text: '0' }];
  const rough = most / 4;
  const power = Math.floor(Math.log10(rough));
  const unit = 10 ** power;
  const factor = [1, 2, 5, 10].find((candidate) => candidate * unit >= rough * 0.999_999) ?? 10;
  const step = factor * unit;
  const count = Math.ceil((most / step) * 0.999_999);
  const decimals = Math.min(20, Math.max(0, -power));
  return Array.from({ length: count + 1 }, (_, at) => ({ value: at * step, text: written(at * step, decimals) }));
}

function written(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
