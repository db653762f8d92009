/** JavaScript's own search takes quadratic time for some longer texts that are searched for. */
const SHORT = 250;

/** `text.includes(part)` in linear time, whatever the two are (the search of Knuth, Morris and Pratt). */
export function includesText(text: string, part: string): boolean {
  if (part.length <= SHORT || part.length >= text.length) return text.includes(part);
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
    if (part.charCodeAt(matched) === unit) matched += 1;
    if (matched === part.length) return true;
  }
  return false;
}

/** For each beginning of the text: the length of its longest proper beginning that is its end, too. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  let length = 0;
  for (let at = 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (length > 0 && text.charCodeAt(length) !== unit) length = borders[length - 1]!;
    if (text.charCodeAt(length) === unit) length += 1;
    borders[at] = length;
  }
  return borders;
}
