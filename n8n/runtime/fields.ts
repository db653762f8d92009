// Nodes that change the fields of each item: Edit Fields (Set) and Rename Keys.

/** `setFields(item, fields, how)`, with fields `{name, value, type}` and types of n8n; `setJson(item, json, how)`. */
export const SETTING = String.raw`
const expected = (name, type, value) => new Error("'" + name + "' expects a " + type + ' but we got ' + (JSON.stringify(value) ?? 'nothing'));
const relaxedJson = (text) => {
  try { return JSON.parse(text); } catch {
    return JSON.parse(text.replace(/'/g, '"').replace(/(['"])?([a-zA-Z0-9_]+)(['"])?:/g, '"$2":').replace(/,\s*([\]}])/g, '$1').replace(/,+$/, ''));
  }
};
const toObject = (value, name) => {
  let made = value;
  if (typeof value === 'string') { try { made = relaxedJson(value); } catch { made = undefined; } }
  if (!isObject(made)) throw new Error((name === undefined ? "'JSON Output'" : 'The field "' + name + '"') + ' does not contain a valid JSON object');
  return made;
};
const converted = ({ name, value, type }, version) => {
  if (value === undefined || value === null) {
    if (version >= 3.2) return null;
    if (type === 'string' && version > 3) throw expected(name, type, value);
    return type === 'string' ? (value === undefined ? 'undefined' : 'null') : null;
  }
  if (type === 'string') return typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (type === 'number') {
    if (Number.isNaN(Number(value))) throw expected(name, type, value);
    return Number(value);
  }
  if (type === 'boolean') {
    const text = typeof value === 'string' ? value.toLowerCase() : value;
    if (text === true || text === 'true') return true;
    if (text === false || text === 'false') return false;
    const number = typeof value === 'string' && value.trim() === '' ? NaN : Number(value);
    if (number !== 0 && number !== 1) throw expected(name, type, value);
    return number === 1;
  }
  if (type === 'array') {
    if (Array.isArray(value)) return value;
    let made;
    try { made = JSON.parse(String(value)); } catch { try { made = JSON.parse(String(value).replace(/'/g, '"')); } catch { made = undefined; } }
    if (!Array.isArray(made)) throw expected(name, type, value);
    return made;
  }
  if (type === 'object') return isObject(value) ? value : toObject(value, name);
  return value;
};
const checkedField = (field, { version, ignoresErrors }) => {
  try { return converted(field, version); } catch (error) {
    if (ignoresErrors) return field.value ?? null;
    throw error;
  }
};
const keptOf = (item, { include, included, excluded, hasDots }) => {
  if (include === 'all') return copy(item);
  if (include === 'except') return excluded.reduce((kept, name) => unset(kept, name, hasDots), copy(item));
  if (include !== 'selected') return {};
  return included.reduce((kept, name) => {
    const value = get(item, name, hasDots);
    const target = hasDots && name.includes('.') ? name.split('.').at(-1) : name;
    return value === undefined ? kept : set(kept, target, value, hasDots);
  }, {});
};
const setFields = (item, fields, how) => {
  const values = Object.entries(Object.fromEntries(fields.map((field) => [field.name, checkedField(field, how)])));
  return values.reduce((made, [name, value]) => set(made, name, value, how.hasDots), keptOf(item, how));
};
const setJson = (item, json, how) => Object.entries(toObject(json)).reduce(
  (made, [name, value]) => set(made, name, value, how.hasDots), keptOf(item, how));
`;

/** Sets fields as versions 1 and 2 do. Both convert booleans; version 2 also converts numbers. */
export const OLD_SETTING = String.raw`
const setOldFields = (item, fields, { keepsOthers, hasDots, version }) => fields.reduce((made, { name, value, type }) => {
  const isNumeric = type === 'number' && version >= 2 && typeof value === 'string' && !Number.isNaN(Number(value));
  const final = type === 'boolean' ? !!value : isNumeric ? Number(value) : value;
  return set(made, name, final === undefined ? null : final, hasDots);
}, keepsOthers ? copy(item) : {});
`;

export const RENAMING = String.raw`
const renameAll = (value, pattern, replacement, depth) => {
  for (const key of Object.keys(value)) {
    const inner = value[key];
    if (inner !== null && typeof inner === 'object' && depth !== 0) renameAll(inner, pattern, replacement, depth - 1);
    const name = Array.isArray(value) ? key : key.replace(pattern, replacement);
    if (name === key) continue;
    put(value, name, inner);
    delete value[key];
  }
  return value;
};
const renameKeys = (item, { keys, patterns }) => {
  const made = copy(item);
  for (const { currentKey, newKey } of keys) {
    const value = currentKey === '' || newKey === '' || currentKey === newKey ? undefined : get(item, currentKey);
    if (value === undefined) continue;
    set(made, newKey, value);
    unset(made, currentKey);
  }
  for (const { searchRegex, replaceRegex = '', options = {} } of patterns) {
    renameAll(made, new RegExp(searchRegex, options.caseInsensitive ? 'i' : ''), replaceRegex, options.depth ?? -1);
  }
  return made;
};
`;
