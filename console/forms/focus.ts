// Moves the focus to a field of the open node.
import type { Path } from './schema.js';

/** Opens the `details` around the control, because hidden controls cannot receive focus. */
function openAround(control: HTMLElement): void {
  for (let around = control.closest('details'); around; around = around.parentElement?.closest('details') ?? null) {
    around.open = true;
  }
}

const CONTROLS = 'input:not([type="hidden"]), textarea, select, [contenteditable="true"]';

/** The longest wait for a field that is only rendered once its choices are loaded. */
const LATEST_MS = 3_000;
const LOOK_AGAIN_MS = 50;

/** Focuses the first field of an added item and selects its text, so that typing replaces the preset name. */
export function focusAdded(path: Path): void {
  setTimeout(() => {
    const control = controlAt(path.map(String));
    if (control === null) return;
    focus(control);
    if (control instanceof HTMLInputElement) control.select();
  });
}

/**
 * Focuses the field at a path in the region `Node`, else its nearest ancestor (`messages.0` for `messages.0.x`), else
 * the first field of the form.
 */
export function focusField(path: string): void {
  // Waits until the form of the newly selected node, or a newly added field, is rendered.
  setTimeout(() => {
    const parts = path === '' ? [] : path.split('.');
    const nearest = parts.map((_, at) => controlAt(parts.slice(0, parts.length - at))).find((found) => found !== null);
    const focused = nearest ?? document.querySelector<HTMLElement>(`fieldset.node-form :is(${CONTROLS})`);
    if (focused) focus(focused);
    if (path !== '') focusLater(parts, focused, performance.now() + LATEST_MS);
  });
}

/** Focuses the exact field as soon as it is rendered, unless the person has moved the focus. */
function focusLater(parts: readonly string[], from: Element | null, untilMs: number): void {
  const control = controlAt(parts);
  if (control === from || performance.now() > untilMs) return;
  if (from !== null && document.activeElement !== from) return;
  if (control === null) setTimeout(() => focusLater(parts, from, untilMs), LOOK_AGAIN_MS);
  else focus(control);
}

function controlAt(parts: readonly string[]): HTMLElement | null {
  const name = CSS.escape(parts.join('.'));
  return document.querySelector<HTMLElement>(`fieldset.node-form [data-path="${name}"] :is(${CONTROLS})`);
}

function focus(control: HTMLElement): void {
  openAround(control);
  control.focus();
  control.scrollIntoView({ block: 'nearest' });
}
