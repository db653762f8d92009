/** The key `/` leads to the page's searchbox, or to that of the dialog before it, unless a text is being written. */
export function focusSearch(event: KeyboardEvent): void {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isWriting(event.target)) return;
  const dialog = document.querySelector('[role="dialog"], [role="alertdialog"]');
  const search = (dialog ?? document.querySelector('main'))?.querySelector<HTMLInputElement>('input[type="search"]');
  if (!search) return;
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
