// Merge and Compare Datasets.

/** Compares fields, finds items that match, and merges items field by field. */
export const MATCHING = String.raw`
const parsedOr = (text) => { try { return JSON.parse(text); } catch { return undefined; } };
const isFalsy = (value) => isNothing(value) || (Array.isArray(value) && value.length === 0);
const looselyEqual = (version) => (one, other) => {
  if (one !== null && other !== null && typeof one === typeof other) return isEqual(one, other);
  const isZero = (value) => value === null || value === 0 || value === '0';
  if (version >= 2 && ((one === null && isZero(other)) || (other === null && isZero(one)))) return true;
  if (isFalsy(one) && isFalsy(other)) return true;
  const asText = (number, text) => typeof number === 'number' && typeof text === 'string' && String(number) === text;
  const asJson = (object, text) => object !== null && typeof object === 'object' && typeof text === 'string' && isEqual(parsedOr(text), object);
  const asTruth = (truth, value) => typeof truth === 'boolean'
    && ((typeof value === 'string' && value.toLowerCase() === String(truth))
      || value === Number(truth) || value === String(Number(truth)));
  return [[one, other], [other, one]].some(([a, b]) => asText(a, b) || asJson(a, b) || asTruth(a, b));
};
const layOver = (target, source, options) => {
  const isSkipped = (value) => value === undefined || (options.overrideEmpty && isNothing(value));
  for (const [key, value] of Object.entries(source ?? {})) {
    if (isSkipped(value) && !(options.mergeMode === 'shallowMerge' && !options.overrideEmpty)) continue;
    const before = own(target, key);
    const isDeep = options.mergeMode !== 'shallowMerge' && value !== null && typeof value === 'object';
    if (!isDeep) put(target, key, value);
    else if (Array.isArray(value)) put(target, key, layOver(Array.isArray(before) ? before.slice() : [], value, options));
    else put(target, key, layOver(isObject(before) ? { ...before } : {}, value, options));
  }
  return target;
};
const combined = (options, ...sources) => sources.reduce((made, source) => layOver(made, source, options), {});
const withSuffix = (items, suffix) => items.map((item) => Object.fromEntries(Object.entries(item).map(([key, value]) => [key + '_' + suffix, value])));
const matchesOf = (left, right, { pairs, isSame, hasDots, isFirst }) => {
  const taken = new Set();
  const matched = [];
  const alone = [];
  for (const item of left) {
    const lookup = Object.entries(Object.fromEntries(pairs.map(({ field1, field2 }) => [field2, get(item, field1, hasDots)])));
    const fits = (other) => lookup.every(([field, value]) => isSame(value, get(other, field, hasDots)));
    let found = [];
    if (lookup.every(([, value]) => value !== undefined)) {
      found = right.flatMap((other, index) => (fits(other) ? [index] : []));
      if (isFirst) found = found.slice(0, 1);
    }
    for (const index of found) taken.add(index);
    if (found.length === 0) alone.push(item);
    else matched.push({ item, others: found.map((index) => right[index]) });
  }
  return { matched, left: alone, right: right.filter((_, index) => !taken.has(index)), both: right.filter((_, index) => taken.has(index)) };
};
const checkFields = (items, fields, hasDots, name) => {
  for (const field of fields) {
    const isThere = items.some((item) => get(item, field, hasDots) !== undefined);
    if (!isThere) throw new Error("Field '" + field + "' is not present in any of items in '" + name + "'");
  }
};
`;

/** `merge(lists, how)` merges the items of the inputs by one of n8n's modes. */
export const MERGING = String.raw`
const suffixed = (lists, clash) => (clash.resolveClash === 'addSuffix' ? lists.map((list, index) => withSuffix(list, index + 1)) : lists);
const preferred = (lists, clash) => {
  const number = /^preferInput(\d+)$/.exec(clash.resolveClash ?? '')?.[1];
  const at = clash.resolveClash === 'preferLast' || number === undefined ? lists.length - 1 : Number(number) - 1;
  return at === lists.length - 1 ? lists : [...lists.filter((_, index) => index !== at), lists[at]];
};
const byPosition = (lists, { clash, includeUnpaired, version }) => {
  if (version < 3 && lists.some((list) => list.length === 0)) return lists.flat();
  const ordered = preferred(suffixed(lists, clash), clash);
  const lengths = ordered.map((list) => list.length);
  const count = includeUnpaired ? Math.max(...lengths) : Math.min(...lengths);
  return Array.from({ length: count }, (_, index) => {
    const there = ordered.flatMap((list) => (index < list.length ? [list[index]] : []));
    return there.length === 1 ? there[0] : combined(clash, ...there);
  });
};
const allPairs = (lists, { clash }) => {
  const ordered = preferred(suffixed(lists, clash), clash);
  return ordered.slice(1).reduce((rows, list) => rows.flatMap((row) => list.map((item) => combined(clash, row, item))), ordered[0] ?? []);
};
const byFields = ([left = [], right = []], how) => {
  const { pairs, joinMode, from, clash, hasDots, isLoose, isFirst, version } = how;
  if (version < 2.1) {
    checkFields(left, pairs.map(({ field1 }) => field1), hasDots, 'Input 1');
    checkFields(right, pairs.map(({ field2 }) => field2), hasDots, 'Input 2');
  }
  if (left.length === 0 || right.length === 0) {
    const isNone = joinMode === 'keepMatches' || (joinMode === 'enrichInput1' && left.length === 0)
      || (joinMode === 'enrichInput2' && right.length === 0)
      || (joinMode === 'keepNonMatches' && ((left.length === 0 && from === 'input1') || (right.length === 0 && from === 'input2')));
    return isNone ? [] : [...left, ...right];
  }
  const found = matchesOf(left, right, { pairs, hasDots, isFirst, isSame: isLoose ? looselyEqual(1) : isEqual });
  const mark = (items, suffix) => (clash.resolveClash === 'addSuffix' ? withSuffix(items, suffix) : items);
  const joined = () => found.matched.flatMap(({ item, others }) => others.map((other) => {
    const [one, two] = [mark([item], 1)[0], mark([other], 2)[0]];
    const isFirstPreferred = clash.resolveClash === 'preferInput1' || (clash.resolveClash === undefined && joinMode === 'enrichInput2');
    return isFirstPreferred ? combined(clash, two, one) : combined(clash, one, two);
  }));
  if (joinMode === 'enrichInput1') return [...joined(), ...mark(found.left, 1)];
  if (joinMode === 'enrichInput2') return [...joined(), ...mark(found.right, 2)];
  if (joinMode === 'keepNonMatches') {
    if (from === 'input1') return found.left;
    if (from === 'input2') return found.right;
    return [...found.left.map((item) => ({ ...item, _source: 'input1' })), ...found.right.map((item) => ({ ...item, _source: 'input2' }))];
  }
  const matching = from === 'input1' ? found.matched.map(({ item }) => item) : from === 'input2' ? found.both : joined();
  return joinMode === 'keepEverything' ? [...matching, ...mark(found.left, 1), ...mark(found.right, 2)] : matching;
};
const merge = (lists, how) => {
  if (how.mode === 'append') return lists.flat();
  if (how.mode === 'chosen') return how.input === null ? [{}] : lists[how.input] ?? [];
  return { byPosition, allPairs, byFields }[how.mode](lists, how);
};
`;

/** `compare(left, right, how)` returns four lists of items: only in A, the same in both, different, and only in B. */
export const COMPARING = String.raw`
const compare = (left, right, how) => {
  const { pairs, hasDots, isFirst, version, isLoose, resolve, skipped } = how;
  if (version < 2.2) {
    checkFields(left, pairs.map(({ field1 }) => field1), hasDots, 'Input A');
    checkFields(right, pairs.map(({ field2 }) => field2), hasDots, 'Input B');
  }
  const isSame = isLoose ? looselyEqual(version) : isEqual;
  const found = matchesOf(left, right, { pairs, hasDots, isFirst, isSame });
  const isByPath = hasDots && skipped.some((name) => name.includes('.'));
  const without = (item) => skipped.reduce((kept, name) => unset(kept, name, isByPath), copy(item));
  const isSameItem = (one, other) => (isLoose
    ? Object.keys(one).every((key) => isSame(one[key], other[key])) : isEqual(one, other));
  const mixed = (one, other) => {
    const [base, exception] = how.prefer === 'input1' ? [one, other] : [other, one];
    return namesIn(how.except).reduce((made, name) => set(made, name, get(exception, name, hasDots) || null, hasDots), copy(base));
  };
  const orNull = (value) => (version >= 2 ? (value === undefined ? null : value) : value || null);
  const names = version >= 2 ? ['inputA', 'inputB'] : ['input1', 'input2'];
  const pair = (one, other) => ({ [names[0]]: orNull(one), [names[1]]: orNull(other) });
  const differences = (one, other) => {
    const made = { keys: {}, same: {}, different: {} };
    for (const { field1 } of pairs) put(made.keys, field1, one[field1]);
    const all = [...new Set([...Object.keys(one), ...Object.keys(other)])];
    const compared = isLoose && version >= 2.1 ? all : all.filter((key) => Object.hasOwn(one, key) && Object.hasOwn(other, key));
    for (const key of compared) if (isSame(one[key], other[key])) put(made.same, key, one[key]);
    const aside = {};
    for (const key of all.filter((name) => !Object.hasOwn(made.same, name))) {
      const both = pair(copy(one[key]), copy(other[key]));
      const inner = skipped.filter((name) => isByPath && name.startsWith(key) && name.includes('.'));
      if (skipped.includes(key)) put(aside, key, both);
      else put(made.different, key, both);
      if (version < 2.1 || skipped.includes(key) || inner.length === 0) continue;
      const hidden = { [names[0]]: {}, [names[1]]: {} };
      for (const name of inner) {
        const path = name.replace(key + '.', '');
        for (const side of names) {
          set(hidden[side], path, get(both[side], path));
          unset(both[side], path);
        }
      }
      put(aside, key, hidden);
    }
    return Object.keys(aside).length === 0 ? made : { ...made, skipped: aside };
  };
  const same = [];
  const different = [];
  for (const { item, others } of found.matched) {
    let equal;
    for (const other of others) {
      if (isSameItem(without(item), without(other))) equal ??= isLoose && resolve === 'preferInput2' ? other : item;
      else if (resolve === 'preferInput1') different.push(item);
      else if (resolve === 'preferInput2') different.push(other);
      else if (resolve === 'mix') different.push(mixed(item, other));
      else different.push(differences(item, other));
    }
    if (equal !== undefined) same.push(equal);
  }
  return [found.left, same, different, found.right];
};
`;
