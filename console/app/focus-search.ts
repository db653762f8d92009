/** The key `/` leads to the page's searchbox, unless a text is being written. */
export function focusSearch(event: KeyboardEvent): void {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isWriting(event.target)) return;
  const search = document.querySelector<HTMLInputElement>('main input[type="search"]');
  if (search === null) return;
  event.preventDefault();
  search.focus();
  search.select();
}

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
  );
}
