const MAX_LENGTH = 80;

/**
 * The part of a title that fits into an address: Latin letters without diacritics, digits and hyphens. May be empty.
 */
export function toSlug(title: string): string {
  const words = title
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return (words ?? []).join('-').slice(0, MAX_LENGTH).replace(/-$/, '');
}

/** Returns `base`, or `base` with the first number from 2 that is not taken. */
export function firstFreeSlug(base: string, taken: ReadonlySet<string>): string {
  if (!taken.has(base)) return base;
  for (let number = 2; ; number += 1) {
    const slug = `${base}-${number}`;
    if (!taken.has(slug)) return slug;
  }
}
