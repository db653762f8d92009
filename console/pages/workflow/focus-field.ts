const CONTROLS = 'input:not([type="hidden"]), textarea, select, [contenteditable="true"]';

/** Focuses the field of the region `Node` at a path, or what of its way there is: `messages.0` for `messages.0.x`. */
export function focusField(path: string): void {
  // The form of a node that has just been selected is drawn first.
  setTimeout(() => {
    const panel = document.querySelector('.node-panel');
    const parts = path === '' ? [] : path.split('.');
    for (let length = parts.length; length > 0; length -= 1) {
      const name = CSS.escape(parts.slice(0, length).join('.'));
      const control = panel?.querySelector<HTMLElement>(`[data-path="${name}"] :is(${CONTROLS})`);
      if (control) {
        control.focus();
        control.scrollIntoView({ block: 'center' });
        return;
      }
    }
    panel?.querySelector<HTMLElement>(CONTROLS)?.focus();
  });
}
