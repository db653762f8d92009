// Reads and sets values by JSON Pointer (RFC 6901). Own properties only; `__proto__` is a key like any other.
import { cutText } from '../cut-text.js';
import { isContainer, isObject, ownValue, setOwn } from '../json.js';

/** Returns the parts of a pointer; undefined for a text that is not a pointer. The empty text names the whole value. */
export function readPointer(pointer: string): string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

const INDEX = /^(?:0|[1-9]\d{0,8})$/;

/** Returns undefined if there is no such value. */
export function valueAt(value: unknown, parts: readonly string[]): unknown {
  let current = value;
  for (const part of parts) {
    if (Array.isArray(current) && !INDEX.test(part)) return undefined;
    current = isContainer(current) ? ownValue(current, part) : undefined;
  }
  return current;
}

/**
 * Returns a copy with another value at the place. Creates the missing objects on the path; `-`, or the length of a
 * list, appends to the list. Returns a sentence if there can be no such place.
 */
export function withValueAt(
  value: unknown,
  parts: readonly string[],
  replacement: unknown,
): { changed: unknown } | { problem: string } {
  const [part, ...rest] = parts;
  if (part === undefined) return { changed: replacement };
  if (Array.isArray(value)) {
    const index = part === '-' ? value.length : INDEX.test(part) ? Number(part) : Number.NaN;
    if (!(index <= value.length)) {
      return { problem: `the list has ${value.length} items, and "${cutText(part, 60)}" names none of them` };
    }
    const inner = withValueAt(value[index], rest, replacement);
    return 'problem' in inner ? inner : { changed: value.toSpliced(index, 1, inner.changed) };
  }
  const isMissing = value === undefined || value === null;
  if (!isMissing && !isObject(value)) return { problem: `there is nothing inside a ${typeof value}` };
  const inner = withValueAt(ownValue(value, part), rest, replacement);
  if ('problem' in inner) return inner;
  const changed = isObject(value) ? { ...value } : {};
  setOwn(changed, part, inner.changed);
  return { changed };
}
