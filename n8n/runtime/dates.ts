// Dates of expressions, and the node Date & Time. `luxon` is a library of the sandbox.

/** The time zone of a workflow is `inputs.zone`. */
export const DATES = String.raw`
const { DateTime, Duration, Interval, Settings } = luxon;
Settings.defaultZone = inputs.zone;
`;

/** Reads dates. Numbers are seconds or milliseconds; texts have the form of ISO 8601 or another usual form. */
const PARSING = String.raw`
const numberOfDate = (value) => {
  if (value === null || value === '' || typeof value === 'boolean' || Number.isNaN(Number(value))) return undefined;
  return Number.isInteger(Number(value)) ? Number(value) : Number(value) * 1000;
};
const ofNumber = (number) => (String(number).length < 12 ? DateTime.fromSeconds(number) : DateTime.fromMillis(Math.trunc(number)));
const ofText = (text, zone) => {
  const options = { zone };
  for (const parse of [DateTime.fromISO, DateTime.fromSQL, DateTime.fromRFC2822, DateTime.fromHTTP]) {
    const date = parse(String(text), options);
    if (date.isValid) return date;
  }
  const time = Date.parse(String(text));
  if (Number.isNaN(time)) throw new Error('Invalid date format');
  return DateTime.fromMillis(time, options);
};
`;

export const DATE_NODE = String.raw`
${PARSING}
const dateOf = (value, { zone, format } = {}) => {
  if (DateTime.isDateTime(value)) return value;
  const number = isNothing(format) ? numberOfDate(value) : undefined;
  let date;
  let target = zone;
  if (number !== undefined) date = ofNumber(number);
  else {
    if (!target && String(value).includes('+')) target = 'Etc/GMT-' + Number(String(value).split('+')[1].slice(0, 2));
    date = isNothing(format) ? ofText(value, 'UTC') : DateTime.fromFormat(String(value), format);
  }
  const moved = date.setZone(target || 'Etc/UTC');
  if (!moved.isValid) throw new Error('Invalid date format');
  return moved;
};
const dateNode = (item, p, operation, isIncluded) => {
  const { zone } = inputs;
  const made = isIncluded ? { ...item } : {};
  const options = p.options ?? {};
  const answer = (value) => put(made, p.outputFieldName, value);
  if (operation === 'getCurrentDate') {
    const now = DateTime.now().setZone(options.timezone || zone);
    if (!now.isValid) throw new Error('The timezone ' + (options.timezone || zone) + ' is not valid. Please check the timezone.');
    return answer((p.includeTime ? now : now.startOf('day')).toString());
  }
  if (operation === 'addToDate') return answer(dateOf(p.magnitude, { zone }).plus({ [p.timeUnit]: p.duration }).toString());
  if (operation === 'subtractFromDate') return answer(dateOf(p.magnitude, { zone }).minus({ [p.timeUnit]: p.duration }).toString());
  if (operation === 'formatDate') {
    if (p.date === null || p.date === undefined) return answer(p.date ?? null);
    const date = dateOf(p.date, { zone: options.timezone ? zone : undefined, format: options.fromFormat });
    return answer(date.toFormat(p.format === 'custom' ? p.customFormat : p.format));
  }
  if (operation === 'roundDate') {
    const date = dateOf(p.date, { zone });
    return answer((p.mode === 'roundUp' ? date.plus({ [p.to]: 1 }).startOf(p.to) : date.startOf(p.toNearest)).toString());
  }
  if (operation === 'getTimeBetweenDates') {
    const duration = dateOf(p.endDate, { zone }).diff(dateOf(p.startDate, { zone }), p.units);
    return answer(options.isoString ? duration.toString() : duration.toObject());
  }
  const date = dateOf(p.date, { zone });
  return answer(p.part === 'week' ? date.weekNumber : date.get(p.part));
};
`;

/** The first version, whose formats are those of the library Moment. */
export const OLD_DATE_NODE = String.raw`
${PARSING}
const TOKENS = { YYYY: 'yyyy', YY: 'yy', Y: 'y', DD: 'dd', D: 'd', DDDD: 'ooo', DDD: 'o', dddd: 'cccc', ddd: 'ccc', E: 'c', gggg: 'kkkk', GGGG: 'kkkk',
  ww: 'WW', w: 'W', WW: 'WW', W: 'W', A: 'a', a: 'a', Z: 'ZZ', ZZ: 'ZZZ', SSS: 'SSS', X: 'X', x: 'x', z: 'ZZZZ', Q: 'q' };
const tokensOf = (format) => format.replace(/\[([^\]]*)\]|Y{1,4}|D{1,4}|d{3,4}|g{4}|G{4}|w{1,2}|W{1,2}|E|A|a|ZZ?|X|x|z|Q|M{1,4}|H{1,2}|h{1,2}|m{1,2}|s{1,2}|S{1,3}|[A-Za-z]/g,
  (token, literal) => {
    if (literal !== undefined) return "'" + literal + "'";
    if (token in TOKENS) return TOKENS[token];
    return /^[MHhmsS]/.test(token) ? token : "'" + token + "'";
  });
const formatted = (date, format) => {
  const text = date.toFormat(tokensOf(format));
  return /(?<!\[[^\]]*)a/.test(format) ? text.replace(/AM|PM/, (half) => half.toLowerCase()) : text;
};
const oldDateOf = (value, format, zone) => {
  const given = DateTime.isDateTime(value) ? value.toISO() : value;
  if (isNothing(format)) return ofText(given, zone);
  const date = DateTime.fromFormat(String(given), tokensOf(format), { zone });
  if (!date.isValid) throw new Error('The date input format could not be recognized. Please set the "From Format" field');
  return date;
};
const oldDateNode = (item, p) => {
  const { zone } = inputs;
  const options = p.options ?? {};
  const made = copy(item);
  const answer = (value) => set(made, p.dataPropertyName, value);
  if (p.action === 'calculate') {
    const number = isNothing(options.fromFormat) ? numberOfDate(p.value) : undefined;
    const date = number === undefined ? oldDateOf(p.value, options.fromFormat, 'UTC') : ofNumber(number);
    const change = { [p.timeUnit]: Number(p.duration) };
    return answer((p.operation === 'subtract' ? date.minus(change) : date.plus(change)).toUTC().toISO());
  }
  const number = numberOfDate(p.value);
  const isMoved = options.toTimezone || options.fromTimezone;
  const from = isMoved ? options.fromTimezone || zone : 'UTC';
  let date = number === undefined ? oldDateOf(p.value, options.fromFormat, from) : ofNumber(number).setZone('UTC');
  if (isMoved) date = date.setZone(options.toTimezone || zone);
  return answer(formatted(date, p.toFormat));
};
`;
