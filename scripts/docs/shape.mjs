// Compares an answer with the one that a document shows: values differ from run to run, keys and types do not.

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^[0-9a-f]{4,8}-?\.\.\.$/;

/**
 * Returns a sentence about the first part that is missing or has another type; undefined if there is none. A key that
 * is a UUID, even a shortened one (`550e8400-...`), matches any other UUID.
 */
export function shapeProblem(shown, found, where = 'the answer') {
  if (typeOf(shown) !== typeOf(found)) return `${where} is ${typeOf(found)}, not ${typeOf(shown)}`;
  if (Array.isArray(shown)) {
    if (shown.length > 0 && found.length === 0) return `${where} is empty`;
    return first(shown.map((item, index) => shapeProblem(item, found[index] ?? found[0], `${where}[${index}]`)));
  }
  if (typeOf(shown) !== 'object') return undefined;
  return first(
    Object.entries(shown).map(([key, value]) => {
      if (!UUID.test(key)) {
        return Object.hasOwn(found, key)
          ? shapeProblem(value, found[key], `${where}.${key}`)
          : `${where} has no ${key}`;
      }
      const others = Object.entries(found).filter(([name]) => UUID.test(name));
      const problems = others.map(([name, other]) => shapeProblem(value, other, `${where}.${name}`));
      return others.length === 0 ? `${where} has no node` : problems.every(Boolean) ? problems[0] : undefined;
    }),
  );
}

function first(problems) {
  return problems.find((problem) => problem !== undefined);
}

function typeOf(value) {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
