// Moves the focus to a field of the open node.

/** Opens the `details` around the control, because hidden controls cannot receive focus. */
function openAround(control: HTMLElement): void {
  for (let around = control.closest('details'); around; around = around.parentElement?.closest('details') ?? null) {
    around.open = true;
  }
}

const CONTROLS = 'input:not([type="hidden"]), textarea, select, [contenteditable="true"]';

/** Focuses the field at a path in the region `Node`, or its nearest ancestor: `messages.0` for `messages.0.x`. */
export function focusField(path: string): void {
  // Waits until the form of the newly selected node, or a newly added field, is rendered.
  setTimeout(() => {
    const panel = document.querySelector('fieldset.node-form');
    const parts = path === '' ? [] : path.split('.');
    for (let length = parts.length; length > 0; length -= 1) {
      const name = CSS.escape(parts.slice(0, length).join('.'));
      const control = panel?.querySelector<HTMLElement>(`[data-path="${name}"] :is(${CONTROLS})`);
      if (control) {
        openAround(control);
        control.focus();
        control.scrollIntoView({ block: 'nearest' });
        return;
      }
    }
    panel?.querySelector<HTMLElement>(CONTROLS)?.focus();
  });
}
