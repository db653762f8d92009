/** `classNames('button', isWide && 'button-wide')` joins the names that are there with spaces. */
export function classNames(...names: (string | false | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}
