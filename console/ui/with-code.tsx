/** A text in which words between backquotes are code. A backquote without a second one stays what it is. */
export function WithCode({ text }: { text: string }) {
  return text.split(/(`[^`]+`)/).map((part, at) => (at % 2 === 1 ? <code key={at}>{part.slice(1, -1)}</code> : part));
}
