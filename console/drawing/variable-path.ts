// How variables name the parts of a value. `graph/variable.ts` reads what this writes.

/** Returns `.name`, or `["a name"]` if a dot does not fit. */
export function toPath(key: string): string {
  if (/^[^\s.[\]{}"']+$/.test(key)) return `.${key}`;
  return key.includes('"') ? `['${key}']` : `["${key}"]`;
}
