/** `classNames('button', isWide && 'button-wide')`: what is there, with spaces between. */
export function classNames(...names: (string | false | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}
