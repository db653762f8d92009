// The conditions of If, Filter and Switch.

/** `passes({conditions, combinator, options})` tests conditions whose expressions have already been evaluated. */
export const CONDITIONS = String.raw`
const wrongType = (value, type) => new Error(
  'Wrong type: ' + (JSON.stringify(value) ?? 'nothing') + ' is a ' + typeof value + ' but was expecting a ' + type);
const toBoolean = (value) => {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : value;
  if (text === 'true') return true;
  if (text === 'false') return false;
  const number = typeof value === 'string' && value.trim() === '' ? NaN : Number(value);
  if (number === 0 || number === 1) return number === 1;
  throw wrongType(value, 'boolean');
};
const toMoment = (value) => {
  const text = String(value).trim();
  const time = /^\d{4}-\d{2}-\d{2}(?:[T ]|$)/.test(text) ? Date.parse(text.replace(' ', 'T')) : Date.parse(text);
  if (Number.isNaN(time)) throw wrongType(value, 'dateTime');
  return time;
};
const toContainer = (value, type) => {
  const parsed = typeof value === 'object' ? value : JSON.parse(String(value));
  if (type === 'array' ? !Array.isArray(parsed) : !isObject(parsed)) throw wrongType(value, type);
  return parsed;
};
const typed = (value, type, { isStrict, version }) => {
  if (type === 'any' || value === null || value === undefined) return value;
  if (type === 'boolean' && !isStrict && version < 2) return Boolean(value);
  if (type === 'boolean' && !isStrict) { try { return toBoolean(value); } catch { return Boolean(value); } }
  const isOfType = { string: typeof value === 'string', number: typeof value === 'number', boolean: typeof value === 'boolean',
    array: Array.isArray(value), object: typeof value === 'object', dateTime: true }[type] ?? true;
  if (isStrict && !isOfType) throw wrongType(value, type);
  if (type === 'string') return typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (type === 'number') {
    if (Number.isNaN(value)) return value;
    if (Number.isNaN(Number(value))) throw wrongType(value, type);
    return Number(value);
  }
  if (type === 'boolean') return toBoolean(value);
  if (type === 'dateTime') return toMoment(value);
  return type === 'array' || type === 'object' ? toContainer(value, type) : value;
};
const patternOf = (text) => {
  const [, body, flags] = /^\/(.*?)\/([gimusy]*)$/.exec(text) ?? [];
  return body === undefined ? new RegExp(text) : new RegExp(body, flags);
};
const ORDERS = {
  equals: (one, other) => one === other, notEquals: (one, other) => one !== other,
  gt: (one, other) => one > other, lt: (one, other) => one < other,
  gte: (one, other) => one >= other, lte: (one, other) => one <= other,
  after: (one, other) => one > other, before: (one, other) => one < other,
  afterOrEquals: (one, other) => one >= other, beforeOrEquals: (one, other) => one <= other,
};
const TEXTS = {
  equals: (one, other) => one === other, contains: (one, other) => one.includes(other),
  startsWith: (one, other) => one.startsWith(other), endsWith: (one, other) => one.endsWith(other),
  regex: (one, other) => patternOf(other).test(one), empty: (one) => one === '',
};
const LENGTHS = { lengthEquals: 'equals', lengthNotEquals: 'notEquals', lengthGt: 'gt', lengthLt: 'lt', lengthGte: 'gte', lengthLte: 'lte' };
const positive = (operation) => operation.replace(/^not(.)/, (_, first) => first.toLowerCase());
const lower = (value) => (typeof value === 'string' ? value.toLocaleLowerCase() : value);
const askOne = ({ leftValue, rightValue, operator }, how) => {
  const { type, operation, rightType = type === 'array' ? 'any' : type, singleValue } = operator;
  const left = typed(leftValue, type, how);
  const exists = left !== undefined && left !== null && !Number.isNaN(left);
  if (operation === 'exists' || operation === 'notExists') return exists === (operation === 'exists');
  let right;
  try { right = typed(rightValue, rightType, how); } catch (error) { if (singleValue !== true) throw error; }
  const isNegated = /^not/.test(operation);
  if (type === 'string') {
    const isPattern = operation === 'regex' || operation === 'notRegex';
    const one = (how.isCaseless ? lower(left) : left) ?? '';
    const other = (how.isCaseless && !isPattern ? lower(right) : right) ?? '';
    return TEXTS[positive(operation)](one, other) !== isNegated;
  }
  if (type === 'array') {
    const list = left ?? [];
    if (operation in LENGTHS) return ORDERS[LENGTHS[operation]](list.length, right);
    if (positive(operation) === 'empty') return (list.length === 0) !== isNegated;
    const holds = how.isCaseless && typeof right === 'string'
      ? list.some((each) => typeof each === 'string' && lower(each) === lower(right)) : list.includes(right);
    return holds !== isNegated;
  }
  if (type === 'object') return (!left || Object.keys(left).length === 0) !== isNegated;
  if (positive(operation) === 'empty') return exists === isNegated;
  if (type === 'boolean' && (operation === 'true' || operation === 'false')) return Boolean(left) === (operation === 'true');
  if (type === 'dateTime' && (isNothing(left) || isNothing(right))) return false;
  return ORDERS[operation](left, right);
};
const passes = ({ conditions, combinator, options }) => {
  const how = { isStrict: options.typeValidation === 'strict', isCaseless: !options.caseSensitive, version: options.version ?? 1 };
  const test = (condition) => askOne(condition, how);
  return combinator === 'or' ? conditions.some(test) : conditions.every(test);
};
`;

/** `passesOld(type, operation, left, right)`, the tests of the first versions of these nodes. */
export const OLD_CONDITIONS = String.raw`
const oldMoment = (value) => {
  const time = typeof value === 'number' ? value : new Date(value).getTime();
  if (Number.isNaN(time)) throw new Error('The value "' + value + '" is not a valid DateTime.');
  return time;
};
const oldText = (value) => String(value || '');
const isVoid = (value) => isNothing(value) || Number.isNaN(value) || (typeof value === 'object' && Object.keys(value).length === 0);
const oldPattern = (text) => {
  const [, body, flags] = /^\/(.*?)\/([gimusy]*)$/.exec(text) ?? [];
  return body === undefined ? new RegExp(text) : new RegExp(body, flags);
};
const OLD_TESTS = {
  after: (one, other) => (one || 0) > (other || 0), before: (one, other) => (one || 0) < (other || 0),
  larger: (one, other) => (one || 0) > (other || 0), largerEqual: (one, other) => (one || 0) >= (other || 0),
  smaller: (one, other) => (one || 0) < (other || 0), smallerEqual: (one, other) => (one || 0) <= (other || 0),
  equal: (one, other) => one === other, notEqual: (one, other) => one !== other,
  contains: (one, other) => oldText(one).includes(oldText(other)), notContains: (one, other) => !oldText(one).includes(oldText(other)),
  startsWith: (one, other) => one.startsWith(other), notStartsWith: (one, other) => !one.startsWith(other),
  endsWith: (one, other) => one.endsWith(other), notEndsWith: (one, other) => !one.endsWith(other),
  isEmpty: isVoid, isNotEmpty: (one) => !isVoid(one),
  regex: (one, other) => oldPattern(oldText(other)).test(oldText(one)), notRegex: (one, other) => !oldPattern(oldText(other)).test(oldText(one)),
};
const passesOld = (type, operation, left, right) => {
  const [one, other] = type === 'dateTime' ? [oldMoment(left), oldMoment(right)] : [left, right];
  return OLD_TESTS[operation](one, other);
};
`;
