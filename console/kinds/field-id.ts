import { asText, isObject } from '../drawing/json.js';

/** `Order number` -> `order_number`: a name for variables, of its own among the others. */
export function toFieldId(title: string, others: readonly unknown[]): string {
  const taken = new Set(others.map((field) => (isObject(field) ? asText(field['id']) : undefined)));
  const words = title
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 60);
  const base = words === '' ? 'field' : words;
  if (!taken.has(base)) return base;
  for (let number = 2; ; number += 1) if (!taken.has(`${base}_${number}`)) return `${base}_${number}`;
}
