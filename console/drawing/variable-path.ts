// Syntax of variable paths; `graph/variable.ts` parses it.

/** Returns `.name`, or `["a name"]` if the key does not fit the dot syntax. */
export function toPath(key: string): string {
  if (/^[^\s.[\]{}"']+$/.test(key)) return `.${key}`;
  return key.includes('"') ? `['${key}']` : `["${key}"]`;
}
