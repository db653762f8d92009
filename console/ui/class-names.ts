/** Joins the truthy names with spaces: `classNames('button', isWide && 'button-wide')`. */
export function classNames(...names: (string | false | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}
