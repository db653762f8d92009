// Files of items. In n8n an item has its files beside its fields; here a file stands in a field of the item
// (docs/use/files.md).

/** `extractFiles(items, parametersOf, how)` reads files, and `convertOnce` and `convertEach` write them. */
export const FILES = String.raw`
const fileOf = (item, name) => {
  const value = get(item, name);
  if (!isObject(value) || typeof value.file_id !== 'string') throw new Error('The item has no file in the field "' + name + '"');
  return file(value);
};
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const toBase64 = (bytes) => {
  const parts = [];
  for (let at = 0; at < bytes.length; at += 3) {
    const held = (bytes[at] << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    parts.push(LETTERS[held >> 18], LETTERS[(held >> 12) & 63],
      at + 1 < bytes.length ? LETTERS[(held >> 6) & 63] : '=', at + 2 < bytes.length ? LETTERS[held & 63] : '=');
  }
  return parts.join('');
};
const fromBase64 = (text) => {
  const codes = Array.from(text.replace(/-/g, '+').replace(/_/g, '/').replace(/[^A-Za-z0-9+/]/g, ''), (letter) => LETTERS.indexOf(letter));
  const bytes = new Uint8Array(Math.floor((codes.length * 3) / 4));
  let [held, bits, at] = [0, 0, 0];
  for (const code of codes) {
    held = ((held << 6) | code) & 0xffff;
    bits += 6;
    if (bits >= 8) bytes[at++] = (held >> (bits -= 8)) & 255;
  }
  return bytes;
};
const readCsv = async (opened, options) => {
  const bytes = await opened.bytes();
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf && options.enableBOM !== true;
  const text = (await opened.text()).replace(/^\ufeff/, '');
  const { data, errors } = Papa.parse(text, { delimiter: options.delimiter || ',', skipEmptyLines: true });
  const wrong = errors.find(({ type }) => type !== 'Delimiter');
  if (wrong !== undefined) throw new Error(wrong.message);
  const lines = data.slice(Math.max(0, (options.fromLine ?? 1) - 1));
  if (hasMark && lines.length > 0) lines[0] = ['\ufeff' + lines[0][0], ...lines[0].slice(1)];
  const most = options.maxRowCount > -1 ? options.maxRowCount : undefined;
  const filled = (row) => (options.includeEmptyCells ? row : Object.fromEntries(Object.entries(row).filter(([, value]) => value !== '')));
  if (options.headerRow === false) return lines.slice(0, most).map((row) => ({ row: filled(row) }));
  const [header = [], ...rows] = lines;
  return rows.slice(0, most).map((row) => {
    if (row.length !== header.length) throw new Error('Invalid Record Length: columns length is ' + header.length + ', got ' + row.length);
    return filled(Object.fromEntries(header.map((name, column) => [name, row[column]])));
  });
};
const readSheet = async (opened, options) => {
  const workbook = xlsx.read(await opened.bytes(), { type: 'array', raw: options.rawData });
  const name = options.sheetName || workbook.SheetNames[0];
  if (!workbook.SheetNames.includes(name)) throw new Error('Spreadsheet does not contain sheet called "' + name + '"!');
  const how = {};
  if (options.range) how.range = Number.isNaN(Number(options.range)) ? options.range : parseInt(options.range, 10);
  if (options.includeEmptyCells) how.defval = '';
  if (options.headerRow === false) how.header = 1;
  const rows = xlsx.utils.sheet_to_json(workbook.Sheets[name], how);
  return options.headerRow === false ? rows.map((row) => ({ row })) : rows;
};
const readJson = async (opened) => {
  if ((await opened.text()) === '') return {};
  try { return await opened.json(); } catch { throw new Error("The file selected in 'Input Binary Field' is not in JSON format"); }
};
const READERS = {
  csv: readCsv, html: readSheet, ods: readSheet, rtf: readSheet, xls: readSheet, xlsx: readSheet,
  pdf: async (opened) => [{ text: await opened.text() }],
};
const VALUES = {
  text: (opened) => opened.text(), xml: (opened) => opened.text(), fromJson: readJson,
  binaryToPropery: async (opened) => toBase64(await opened.bytes()),
};
const extractFiles = async (items, parametersOf, { operation, goesOn }) => {
  const made = [];
  for (const [index, item] of items.entries()) {
    try {
      const { name, target, options } = parametersOf(index);
      const opened = fileOf(item, name);
      const { keepSource } = options;
      const kept = keepSource === 'json' || keepSource === 'both' ? unset(copy(item), name) : {};
      if (keepSource === 'binary' || keepSource === 'both') set(kept, name, get(item, name));
      if (Object.hasOwn(VALUES, operation)) made.push(set(kept, target, await VALUES[operation](opened)));
      else for (const row of await READERS[operation](opened, options)) made.push({ ...kept, ...row });
    } catch (error) {
      if (!goesOn) throw error;
      made.push({ error: error.message });
    }
  }
  return made;
};
const TYPES = {
  csv: 'text/csv', html: 'text/html', rtf: 'application/rtf', ods: 'application/vnd.oasis.opendocument.spreadsheet',
  xls: 'application/vnd.ms-excel', xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};
const flattened = (item) => {
  const made = {};
  for (const [key, value] of Object.entries(item)) {
    if (value === null || typeof value !== 'object') put(made, key, value);
    else for (const [inner, part] of Object.entries(flattened(value))) if (part !== undefined) put(made, key + '.' + inner, part);
  }
  return made;
};
const saveSheet = (items, format, options) => {
  const sheet = xlsx.utils.json_to_sheet(items.map(flattened), options.headerRow === false ? { skipHeader: true } : undefined);
  const name = options.sheetName || 'Sheet';
  const how = { bookType: format, bookSST: false, type: 'array' };
  if (format === 'csv' && options.delimiter) how.FS = options.delimiter;
  if ((format === 'xlsx' || format === 'ods') && options.compression) how.compression = true;
  const bytes = new Uint8Array(xlsx.write({ SheetNames: [name], Sheets: { [name]: sheet } }, how));
  return save(options.fileName ?? 'File.' + format, bytes, TYPES[format]);
};
const saveValue = (value, { fileName, mimeType, isBase64, addBOM, format }) => {
  if (isBase64) return save(fileName ?? 'file', fromBase64(String(value)), mimeType);
  const isJson = typeof value === 'object';
  const text = isJson ? JSON.stringify(value, null, format ? 2 : undefined) : String(value);
  const type = isJson ? 'application/json' : mimeType;
  return save(fileName ?? (isJson ? 'file.json' : 'file.txt'), (addBOM ? '\ufeff' : '') + text, type);
};
const convertOnce = async (items, parametersOf, operation) => {
  const { name, options } = parametersOf(0);
  const saved = operation === 'toJson' ? await saveValue(items, { ...options, mimeType: 'application/json' }) : await saveSheet(items, operation, options);
  return [put({}, name, saved)];
};
const convertEach = async (items, parametersOf, operation, isAlwaysBase64) => {
  const made = [];
  for (const [index, item] of items.entries()) {
    const { name, source, options } = parametersOf(index);
    const value = operation === 'toJson' ? item : get(item, source);
    if (value === undefined) throw new Error('The value in "' + source + '" is not set');
    const how = {
      toJson: { mimeType: 'application/json' }, toText: { mimeType: 'text/plain', fileName: options.fileName || 'file.txt' },
      toBinary: { isBase64: isAlwaysBase64 || options.dataIsBase64 !== false },
    }[operation];
    made.push(put({}, name, await saveValue(value, { ...options, ...how })));
  }
  return made;
};
`;
