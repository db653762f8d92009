// Code that data nodes share. A data node is a code node that does the work of a node of n8n. The data node gets the
// `json` of n8n's items as a list, or that of exactly one item by itself, and returns a list or one item, or one list
// for each output. The texts of this folder run in the sandbox (docs/use/code.md).

/** The start of every data node. Reads items, and reads and sets fields, named by paths such as `a.b[0]`, as in n8n. */
export const CORE = String.raw`
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const isNothing = (value) => value === undefined || value === null || value === '';
const itemOf = (json) => {
  if (typeof json !== 'string') return json;
  let made;
  try { made = JSON.parse(json); } catch { made = json; }
  return made !== null && typeof made === 'object' ? made : { data: made };
};
const itemsOf = (json) => (Array.isArray(json) ? json.flat(Infinity).map(itemOf).flat() : isNothing(json) ? [] : [itemOf(json)].flat());
const copy = (value) => {
  if (Array.isArray(value)) return value.map(copy);
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copy(part)])) : value;
};
const isEqual = (one, other) => {
  if (one === other || (one !== one && other !== other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length
    && keys.every((key) => Object.hasOwn(other, key) && isEqual(one[key], other[key]));
};
const stepsOf = (path) => Array.from(
  String(path).matchAll(/[^.[\]]+|\[(?:(\d+)|"([^"]*)"|'([^']*)')\]/g),
  ([whole, number, double, single]) => number ?? double ?? single ?? whole,
);
const own = (value, key) => (value !== null && typeof value === 'object' && Object.hasOwn(value, key) ? value[key] : undefined);
const get = (value, path, hasDots = true) => {
  if (!hasDots || (isObject(value) && Object.hasOwn(value, path))) return own(value, path);
  return stepsOf(path).reduce((at, step) => own(at, step), value);
};
const put = (target, key, value) => Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
const set = (target, path, value, hasDots = true) => {
  const steps = hasDots ? stepsOf(path) : [path];
  let at = target;
  for (const [index, step] of steps.slice(0, -1).entries()) {
    const next = own(at, step);
    if (next === null || typeof next !== 'object') put(at, step, /^\d+$/.test(steps[index + 1]) ? [] : {});
    at = own(at, step);
  }
  if (steps.length > 0) put(at, steps.at(-1), value);
  return target;
};
const unset = (target, path, hasDots = true) => {
  if (!hasDots || Object.hasOwn(target, path)) delete target[path];
  else {
    const steps = stepsOf(path);
    const holder = steps.slice(0, -1).reduce((at, step) => own(at, step), target);
    if (holder !== null && typeof holder === 'object') delete holder[steps.at(-1)];
  }
  return target;
};
const namesIn = (text) => (Array.isArray(text) ? text : String(text ?? '').split(',')).map((name) => String(name).trim()).filter((name) => name !== '');
`;

/** Evaluates expressions. An expression that fails gives nothing, as in n8n. */
export const EXPRESSIONS = String.raw`
const evaluate = (expression) => {
  try {
    const value = expression();
    // Dates of the library become text, as in n8n.
    return typeof value?.toISO === 'function' ? value.toString() : value;
  } catch {
    return undefined;
  }
};
const join = (...parts) => parts.map((part) => (part || part === 0 || part === false ? String(part) : '')).join('');
const joinJson = (...parts) => (parts.length === 1 && typeof parts[0] !== 'string' ? parts[0] : parts.map((part) => (part !== null && typeof part === 'object' ? JSON.stringify(part) : String(part))).join(''));
const asJson = (value) => (typeof value === 'string' ? JSON.parse(value) : value);
const wrap = (json) => (json === undefined ? undefined : { json });
const refuseOther = (numbers) => {
  if (numbers.some((number) => number !== undefined && number !== 0)) throw new Error('Another output or run of a node cannot be read here.');
};
const view = (list, index) => {
  const paired = wrap(list.length === 1 ? list[0] : list[index]);
  return {
    all: (...numbers) => (refuseOther(numbers), list.map(wrap)),
    first: (...numbers) => (refuseOther(numbers), wrap(list[0])),
    last: (...numbers) => (refuseOther(numbers), wrap(list.at(-1))),
    itemMatching: (at) => wrap(list[at]),
    item: paired,
    json: paired?.json,
    get data() { return paired?.json; },
    isExecuted: list.length > 0,
  };
};
const scopeOf = (items, index) => {
  const $ = (name) => view(itemsOf(inputs.nodes?.[name]), index);
  return {
    $json: items[index] ?? {},
    $data: items[index] ?? {},
    $itemIndex: index,
    $position: index,
    $runIndex: 0,
    $input: { ...view(items, index), item: wrap(items[index]), json: items[index] },
    $items: (name, ...numbers) => (name === undefined ? items.map(wrap) : $(name).all(...numbers)),
    $,
    $node: new Proxy({}, { get: (_, name) => $(name) }),
    $if: (condition, one, other) => (condition ? one : other),
    $ifEmpty: (value, other) => (isNothing(value) || (typeof value === 'object' && Object.keys(value).length === 0) ? other : value),
    $workflow: inputs.workflow,
    $execution: inputs.execution,
    $max: Math.max,
    $min: Math.min,
  };
};
`;

/** Divides items among outputs. */
export const DIVIDING = String.raw`
const divide = (list, count, waysOf) => {
  const outputs = Array.from({ length: count }, () => []);
  for (const [index, item] of list.entries()) for (const way of waysOf(index)) outputs[way]?.push(item);
  return outputs;
};
`;

/** Reads what the code of a Code, Function or Function Item node returns. */
export const RETURNED = String.raw`
const unwrapped = (returned) => (Array.isArray(returned) ? returned : returned === undefined || returned === null ? [] : [returned])
  .filter((item) => item !== undefined && item !== null)
  .map((item, index) => {
    const json = isObject(item) && Object.hasOwn(item, 'json') ? item.json : item;
    if (!isObject(json)) throw new Error("A 'json' property isn't an object [item " + index + ']');
    return json;
  });
`;

/** Separates the items for which a node succeeded from those for which it failed, or replaces the latter by errors. */
export const RESULTS = String.raw`
const toError = (text) => {
  const message = text.replace(/^Error: /, '').replace(/ \(line \d+\)$/, '');
  return inputs.isObject ? { message } : message;
};
const succeeded = (list) => list.flatMap(({ json, error }) => (error === '' ? itemsOf(json) : []));
const failed = (list) => list.flatMap(({ error, item }) => (error === '' ? [] : [{ ...item, error: toError(error) }]));
const results = (list) => list.flatMap(({ json, error }) => (error === '' ? itemsOf(json) : [{ error: toError(error) }]));
`;
