// Nodes that process lists: Split Out, Aggregate, Sort, Limit, Remove Duplicates, Summarize and Loop Over Items.

export const SPLITTING = String.raw`
const splitOut = (items, parametersOf, { include, hasDots, isStrict }) => items.flatMap((item, position) => {
  const rows = [];
  const [fields, targets, included] = ['fields', 'targets', 'included'].map((key) => namesIn(parametersOf(position)[key]));
  for (const [at, field] of fields.entries()) fields[at] = field.replace(/^\$json\./, '');
  const isAlone = fields.length === 1;
  for (const [at, field] of fields.entries()) {
    const value = get(item, field, hasDots);
    if (isStrict && (value === null || typeof value !== 'object')) throw new Error("Couldn't find the list '" + field + "' in the input data");
    const elements = value === undefined ? [] : value !== null && typeof value === 'object' ? Object.values(value) : [value];
    for (const [index, element] of elements.entries()) {
      rows[index] ??= {};
      const isWhole = element !== null && typeof element === 'object' && include === 'noOtherFields' && isNothing(targets[at]) && isAlone;
      if (isWhole) Object.assign(rows[index], element);
      else put(rows[index], targets[at] || field, element);
    }
  }
  if (include === 'allOtherFields') {
    const rest = fields.reduce((kept, field) => unset(kept, field, hasDots), copy(item));
    return rows.map((row) => ({ ...rest, ...row }));
  }
  if (include === 'selectedOtherFields') for (const row of rows) for (const name of included) put(row, name, get(item, name, hasDots));
  return rows;
});
`;

export const AGGREGATING = String.raw`
const aggregateFields = (items, { fields, hasDots, mergesLists, keepsMissing, isStrict }) => {
  const lists = {};
  for (const { field, target } of fields) {
    if (isStrict && !items.some((item) => get(item, field, hasDots) !== undefined)) throw new Error("Couldn't find the field '" + field + "' in the input data");
    const list = [];
    for (const item of items) {
      let value = get(item, field, hasDots);
      if (!keepsMissing) {
        if (value === undefined || value === null) continue;
        if (Array.isArray(value)) value = value.filter((entry) => entry !== null);
      }
      if (Array.isArray(value) && mergesLists) list.push(...value);
      else list.push(value === undefined ? null : value);
    }
    put(lists, target, list);
  }
  return [Object.entries(lists).reduce((made, [name, list]) => set(made, name, list, hasDots), {})];
};
const aggregateItems = (items, { target, ...names }) => {
  const [excluded, included] = [namesIn(names.excluded), namesIn(names.included)];
  const picked = excluded.length === 0 && included.length === 0 ? items : items.flatMap((item) => {
    const names = Object.keys(item).filter((name) => !excluded.includes(name) && (included.length === 0 || included.includes(name)));
    return names.length === 0 ? [] : [Object.fromEntries(names.map((name) => [name, item[name]]))];
  });
  return [put({}, target, picked)];
};
`;

export const SORTING = String.raw`
const lowered = (value) => (typeof value === 'string' ? value.toLowerCase() : value);
// For values of several types, the result depends on the algorithm. Short lists are sorted as V8 does it for n8n.
const arranged = (list, order) => {
  if (list.length < 2 || list.length > 63) return list.sort(order);
  const isFalling = order(list[1], list[0]) < 0;
  let start = 2;
  while (start < list.length && order(list[start], list[start - 1]) < 0 === isFalling) start += 1;
  if (isFalling) list.splice(0, start, ...list.slice(0, start).reverse());
  for (; start < list.length; start += 1) {
    const [pivot] = list.slice(start, start + 1);
    let [left, right] = [0, start];
    while (left < right) {
      const middle = (left + right) >> 1;
      if (order(pivot, list[middle]) < 0) right = middle;
      else left = middle + 1;
    }
    list.splice(start, 1);
    list.splice(left, 0, pivot);
  }
  return list;
};
const sorted = (items, { fields, hasDots }) => {
  for (const { name } of fields) {
    if (!items.some((item) => get(item, name, hasDots) !== undefined)) throw new Error("Couldn't find the field '" + name + "' in the input data");
  }
  return arranged(items.slice(), (one, other) => {
    for (const { name, direction } of fields) {
      const [a, b] = [lowered(get(one, name, hasDots)), lowered(get(other, name, hasDots))];
      if (!isEqual(a, b)) return a < b ? -direction : direction;
    }
    return 0;
  });
};
const shuffled = (items) => {
  const list = items.slice();
  for (let at = list.length - 1; at > 0; at -= 1) {
    const other = Math.floor(Math.random() * (at + 1));
    [list[at], list[other]] = [list[other], list[at]];
  }
  return list;
};
const sortedBy = (items, order) => items.map((json) => ({ json })).sort(order).map(({ json }) => json);
`;

export const LIMITING = String.raw`
const limited = (items, most, isFromEnd) => (most >= items.length ? items : isFromEnd ? items.slice(items.length - most) : items.slice(0, most));
`;

export const UNIQUE = String.raw`
const pathsIn = (value, prefix = '') => Object.entries(value).flatMap(([key, part]) => {
  const path = prefix === '' ? key : prefix + '.' + key;
  return isObject(part) ? pathsIn(part, path) : [path];
});
const canonical = (value) => {
  if (Array.isArray(value)) return '[' + value.map(canonical).join() + ']';
  if (!isObject(value)) return JSON.stringify(value) ?? 'undefined';
  return '{' + Object.keys(value).sort().map((key) => JSON.stringify(key) + ':' + canonical(value[key])).join() + '}';
};
const unique = (items, { compare, removesOthers, hasDots, version, mayMix, ...named }) => {
  const [excluded, compared] = [namesIn(named.excluded), namesIn(named.compared)];
  const names = (item) => (hasDots ? pathsIn(item) : Object.keys(item));
  const all = [...new Set(items.flatMap(names))];
  const keys = compare === 'selectedFields' ? compared
    : compare === 'allFieldsExcept' ? (hasDots ? names(items[0]) : all).filter((key) => !excluded.includes(key)) : all;
  for (const key of keys) {
    let type;
    for (const item of items) {
      const value = get(item, key, hasDots);
      if (value === null && version > 1) continue;
      if (value === undefined) throw new Error("'" + key + "' field is missing from some input items");
      if (!mayMix && type !== undefined && type !== typeof value) throw new Error("'" + key + "' isn't always the same type");
      type = typeof value;
    }
  }
  const met = new Set();
  const left = items.filter((item) => {
    const text = canonical(keys.map((key) => get(item, key, hasDots)));
    return !met.has(text) && met.add(text);
  });
  if (!removesOthers) return left;
  return left.map((item) => keys.reduce((made, key) => {
    const value = get(item, key, hasDots);
    return value === undefined ? made : set(made, key, value, hasDots);
  }, {}));
};
`;

export const SUMMARIZING = String.raw`
const summaryName = (name) => name.replace(/[\]["]/g, '').replace(/[ .]/g, '_');
const PREFIXES = { append: 'appended_', average: 'average_', concatenate: 'concatenated_', count: 'count_', countUnique: 'unique_count_', max: 'max_', min: 'min_', sum: 'sum_' };
const summaryOf = (items, { aggregation = 'count', field, includeEmpty, separateBy, customSeparator }, hasDots) => {
  const values = items.map((item) => get(item, field, hasDots));
  const filled = values.filter((value) => !isNothing(value));
  const numbers = filled.filter((value) => typeof value === 'number');
  const listed = includeEmpty ? values : filled;
  const sum = numbers.reduce((total, number) => total + number, 0);
  const best = (isBetter) => filled.reduce((found, value) => (found === null || isBetter(value, found) ? value : found), null);
  if (aggregation === 'append') return listed.map((value) => value ?? null);
  if (aggregation === 'concatenate') {
    const texts = listed.map((value) => (typeof value === 'object' ? JSON.stringify(value) : typeof value === 'undefined' ? 'undefined' : value));
    return texts.join(separateBy === 'other' ? customSeparator : separateBy ?? ',');
  }
  if (aggregation === 'sum') return sum;
  if (aggregation === 'average') return sum / numbers.length;
  if (aggregation === 'min') return best((one, other) => one < other);
  if (aggregation === 'max') return best((one, other) => one > other);
  if (aggregation === 'countUnique') return new Set(filled).size;
  return filled.length;
};
const summarize = (items, { fields, isSingle, skipsEmpty, hasDots, checksFields, ignoresMissing, ...named }) => {
  const groups = namesIn(named.groups);
  for (const { field } of checksFields ? fields : []) {
    if (field === '' || items.some((item) => get(item, field, hasDots) !== undefined)) continue;
    if (ignoresMissing) return [{}];
    throw new Error("The field '" + field + "' does not exist in any items");
  }
  const summary = (list) => Object.fromEntries(fields.map((each) => [
    summaryName(PREFIXES[each.aggregation ?? 'count'] + each.field), summaryOf(list, each, hasDots)]));
  const grouped = (list, [name, ...rest]) => {
    if (name === undefined) return summary(list);
    const found = {};
    for (const item of list) {
      const value = get(item, name, hasDots);
      const key = typeof value === 'object' ? JSON.stringify(value) : value;
      if (skipsEmpty && typeof key !== 'number' && !key) continue;
      if (!Object.hasOwn(found, key)) put(found, key, []);
      found[key].push(item);
    }
    return Object.fromEntries(Object.entries(found).map(([key, members]) => [key, grouped(members, rest)]));
  };
  const result = grouped(items, groups);
  if (isSingle || groups.length === 0) return [result];
  const rowsOf = (part, [name, ...rest], before) => Object.entries(part).flatMap(([key, inner]) => {
    const row = { ...before, [summaryName(name)]: key };
    return rest.length === 0 ? [{ ...row, ...inner }] : rowsOf(inner, rest, row);
  });
  return rowsOf(result, groups, {});
};
`;

export const BATCHES = String.raw`
const batches = (items, size) => Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
`;
