// The operations of n8n's Google Sheets node, from its version 3 on, and the actions that they become. A row is an
// object in n8n, and a list in Google's interface.
import { addData, listPlace } from '../data-node.js';
import { isObject } from '../../graph/json.js';
import { rowOf } from '../json-places.js';
import { objectsOf, textOf } from '../n8n-file.js';
import { NotTranslatable, oneWay, type TranslatedNode } from '../node-translation.js';
import { addAction, warnOfDifferences } from './add-action.js';
import type { Given } from './given.js';
import type { Service } from './operation.js';

const DOCUMENT = /([-\w]{25,})/;

/**
 * `rowsOf(answer)`: the rows as objects, with their numbers. The first row that is not empty has the names of the
 * fields. `lookUp(rows, filters, how)`: the rows that pass the filters. `toRow(header, fields)`: a list of one row,
 * which has the fields in the order of the names in `header`. `toUpdate(answer, fields, how)`: the changes of the first
 * row that matches, the row to add if none does, and the items that n8n outputs.
 */
const ROWS = String.raw`
const headerOf = (answer) => answer?.values?.[0] ?? [];
const isCell = (cell) => !isNothing(cell);
const rowsOf = (answer) => {
  const values = answer?.values ?? [];
  const start = values.findIndex((row) => row.some(isCell));
  if (start < 0) return [];
  const header = values[start];
  const rows = values.slice(start + 1);
  const width = values.reduce((most, row) => Math.max(most, row.length), 0);
  const columns = Array.from({ length: width }, (_, column) => column)
    .filter((column) => header[column] !== '' || rows.some((row) => isCell(row[column])));
  const names = columns.map((column, at) => header[column] || 'col_' + (at + 1));
  return rows
    .map((row, at) => ({ row, number: start + at + 2 }))
    .filter(({ row }) => row.some(isCell))
    .map(({ row, number }) => {
      const item = { row_number: number };
      for (const [at, column] of columns.entries()) put(item, names[at], row[column] ?? '');
      return item;
    });
};
const lookUp = (rows, filters, { isFirst, isEach }) => {
  const asks = filters.filter(({ lookupColumn }) => !isNothing(lookupColumn));
  if (asks.length === 0) return rows;
  const unknown = asks.find(({ lookupColumn }) => rows.length > 0 && !Object.hasOwn(rows[0], lookupColumn));
  if (unknown !== undefined) throw new Error('The column "' + unknown.lookupColumn + '" could not be found');
  const holds = (row, { lookupColumn, lookupValue }) => String(row[lookupColumn]) === String(lookupValue ?? '');
  if (isEach) return rows.filter((row) => asks.every((ask) => holds(row, ask))).slice(0, isFirst ? 1 : undefined);
  return [...new Set(asks.flatMap((ask) => rows.filter((row) => holds(row, ask)).slice(0, isFirst ? 1 : undefined)))];
};
const toRow = (header, fields) => {
  const unknown = Object.keys(fields).filter((name) => name !== 'row_number' && !header.includes(name));
  if (unknown.length > 0) throw new Error('The sheet has no column for: ' + unknown.join(', '));
  return [header.map((name) => fields[name] ?? '')];
};
// Null leaves a cell as it is.
const toUpdate = (answer, fields, { match, range, appends }) => {
  const values = answer?.values ?? [];
  const header = headerOf(answer);
  if (header.length === 0) throw new Error('Could not retrieve the column names from row 1');
  if (isNothing(fields[match])) throw new Error("The 'Column to Match On' parameter is required");
  const column = header.indexOf(match);
  if (column < 0 && match !== 'row_number') throw new Error('The sheet has no column for: ' + match);
  const isSame = (row) => String(row[column] ?? '') === String(fields[match]);
  const found = match === 'row_number' ? Number(fields.row_number) - 1 : values.findIndex((row, at) => at > 0 && isSame(row));
  const all = toRow(header, fields);
  if (found < 1) return appends ? { rows: [], added: [all], items: [fields] } : { rows: [], added: [], items: [] };
  const cells = header.map((name) => (Object.hasOwn(fields, name) ? (fields[name] ?? '') : null));
  return { rows: [{ range: range + '!A' + (found + 1), values: [cells] }], added: [], items: [fields] };
};
`;

interface Sheet {
  spreadsheetId: string;
  /** The name of the sheet in single quotes, as ranges require it. */
  range: string;
}

/**
 * Returns the sheet by its name, which Google's interface needs. If a user has chosen the sheet from a list, the file
 * has the name beside the number of the sheet.
 */
function sheetOf(given: Given): Sheet {
  const spreadsheetId = given.id('documentId', DOCUMENT);
  const raw = given.raw('sheetName');
  const mode = isObject(raw) ? raw['mode'] : 'name';
  const chosen = isObject(raw) ? (textOf(raw['cachedResultName']) ?? '') : '';
  // The name beside an expression is that of a sheet that was chosen earlier.
  if (mode !== 'name' && isObject(raw) && textOf(raw['value'])?.startsWith('=') === true)
    throw new NotTranslatable('its sheet is known only when it runs');
  const name = mode === 'name' ? given.id('sheetName') : chosen;
  if (name === '') throw new NotTranslatable('its sheet has a number, and the file does not say its name');
  return { spreadsheetId, range: `'${name.replaceAll("'", "''")}'` };
}

function read(given: Given, service: Service): TranslatedNode {
  const { at } = given;
  const { spreadsheetId, range } = sheetOf(given);
  const id = addAction(at, service, 'spreadsheets.values.get', {
    spreadsheetId,
    range,
    valueRenderOption: given.word('options.outputFormatting.values.general', 'UNFORMATTED_VALUE'),
    dateTimeRenderOption: given.word('options.outputFormatting.values.date', 'FORMATTED_STRING'),
  });
  const { version } = at.node;
  const isFirst =
    version < 4.5
      ? given.raw('options.returnAllMatches') !== 'returnAllMatches'
      : given.raw('options.returnFirstMatch') === true;
  const isEach = given.word('combineFilters', version < 4.3 ? 'OR' : 'AND') === 'AND';
  const how = { isFirst, isEach };
  const rows = addData(
    at,
    {
      parts: [ROWS],
      parameters: { filters: objectsOf(given.raw('filtersUI.values')) },
      returns: `lookUp(rowsOf(inputs.answer), parametersOf(0).filters, ${JSON.stringify(how)})`,
      failing: '[{ error: error.message }]',
      keepsItems: false,
      inputs: { answer: `{{ ${id}.result.json }}` },
    },
    'rows',
  );
  at.link({ id, handle: null }, rows);
  warnOfDifferences(given, [
    version <= 4.1 && at.isForEach && 'n8n reads the sheet once. Here it is read for each item.',
  ]);
  return { ...oneWay(rows, listPlace(at, rows)), entry: id, main: id };
}

/** Reads the first row, and appends a row in its order. */
function append(given: Given, service: Service): TranslatedNode {
  const { at } = given;
  const { version } = at.node;
  if (version < 4) throw new NotTranslatable('it appends rows as earlier versions do');
  const { spreadsheetId, range } = sheetOf(given);
  const mode = given.word('columns.mappingMode', 'defineBelow');
  if (mode === 'nothing') throw new NotTranslatable('it appends nothing');
  // n8n's editor uses these entries of `columns`, and n8n converts values by some of them, which is not done here.
  // Reading them prevents a warning about them.
  for (const name of ['schema', 'matchingColumns', 'attemptToConvertTypes', 'convertFieldsToString'])
    given.raw(`columns.${name}`);
  const header = addAction(
    at,
    service,
    'spreadsheets.values.get',
    { spreadsheetId, range: `${range}!1:1`, valueRenderOption: 'FORMATTED_VALUE' },
    { note: 'first row' },
  );
  const isMapped = mode === 'defineBelow';
  const row = addData(
    at,
    {
      parts: [ROWS],
      parameters: { fields: isMapped ? (given.raw('columns.value') ?? {}) : {} },
      before: [`const fields = ${isMapped ? 'parametersOf(0).fields' : 'items[0] ?? {}'};`],
      returns: '{ row: toRow(headerOf(inputs.answer), fields), fields }',
      failing: null,
      keepsItems: !isMapped,
      inputs: { answer: `{{ ${header}.result.json }}` },
    },
    'row',
  );
  at.link({ id: header, handle: null }, row);
  const byDefault = version < 4.1 ? 'RAW' : 'USER_ENTERED';
  const id = addAction(at, service, 'spreadsheets.values.append', {
    spreadsheetId,
    range,
    valueInputOption: given.word('options.cellFormat', byDefault),
    insertDataOption: 'INSERT_ROWS',
    values: `{{ ${row}.result.value.row }}`,
  });
  at.link({ id: row, handle: null }, id);
  given.raw('options.useAppend');
  warnOfDifferences(given, [
    !isMapped &&
      given.word('options.handlingExtraData', 'insertInNewColumn') === 'insertInNewColumn' &&
      'n8n adds columns for fields that the sheet does not have. Here such a field is an error.',
  ]);
  const result = at.add('set', { value: `{{ ${row}.result.value.fields }}` }, 'result');
  at.link({ id, handle: null }, result);
  return { ...oneWay(result, { ...at.resultPlace(result), row: rowOf(at.json) }), entry: header, main: id };
}

/**
 * Reads the sheet, and changes the first row that has the item's value in the column to match on. If no row has the
 * value and `appends` is set, adds a row.
 */
function update(given: Given, service: Service, appends: boolean): TranslatedNode {
  const { at } = given;
  const { version } = at.node;
  if (version < 4) throw new NotTranslatable('it changes rows as earlier versions do');
  const { spreadsheetId, range } = sheetOf(given);
  const mode = given.word('columns.mappingMode', 'defineBelow');
  if (mode === 'nothing') throw new NotTranslatable('it changes nothing');
  for (const name of ['schema', 'attemptToConvertTypes', 'convertFieldsToString']) given.raw(`columns.${name}`);
  const matching = given.raw('columns.matchingColumns');
  const [match, ...others] = Array.isArray(matching) ? (matching as unknown[]) : [];
  if (typeof match !== 'string' || others.length > 0)
    throw new NotTranslatable('it does not look for a row by one column');
  const isMapped = mode === 'defineBelow';
  const byDefault = version < 4.1 ? 'RAW' : 'USER_ENTERED';
  const valueInputOption = given.word('options.cellFormat', byDefault);
  const all = addAction(
    at,
    service,
    'spreadsheets.values.get',
    {
      spreadsheetId,
      range,
      valueRenderOption: given.word('options.valueRenderMode', 'UNFORMATTED_VALUE'),
    },
    { note: 'sheet' },
  );
  const found = addData(
    at,
    {
      parts: [ROWS],
      parameters: { fields: isMapped ? (given.raw('columns.value') ?? {}) : {} },
      before: [`const fields = ${isMapped ? 'parametersOf(0).fields' : 'items[0] ?? {}'};`],
      returns: `toUpdate(inputs.answer, fields, ${JSON.stringify({ match, range, appends })})`,
      failing: null,
      keepsItems: !isMapped,
      inputs: { answer: `{{ ${all}.result.json }}` },
    },
    'row',
  );
  at.link({ id: all, handle: null }, found);
  const each = (name: string, note: string): string => {
    const id = at.around.draft.newId(`${at.around.id}-${name}`);
    at.add('for_each', { items: `{{ ${found}.result.value.${name} }}`, concurrency: 1, output: true }, note, id);
    return id;
  };
  const changed = each('rows', 'row that is there');
  const id = addAction(at, service, 'spreadsheets.values.update', {
    spreadsheetId,
    range: `{{ ${changed}.item.range }}`,
    valueInputOption,
    values: `{{ ${changed}.item.values }}`,
  });
  at.link({ id: found, handle: null }, changed);
  at.link({ id: changed, handle: 'body' }, id);
  let last = changed;
  if (appends) {
    last = each('added', 'new row');
    const values = {
      spreadsheetId,
      range,
      valueInputOption,
      insertDataOption: 'INSERT_ROWS',
      values: `{{ ${last}.item }}`,
    };
    const added = addAction(at, service, 'spreadsheets.values.append', values, { note: 'append' });
    at.link({ id: changed, handle: null }, last);
    at.link({ id: last, handle: 'body' }, added);
  }
  given.raw('options.useAppend');
  warnOfDifferences(given, [
    !isMapped &&
      given.word('options.handlingExtraData', 'insertInNewColumn') === 'insertInNewColumn' &&
      'n8n adds columns for fields that the sheet does not have. Here such a field is an error.',
  ]);
  const result = at.add('set', { value: `{{ ${found}.result.value.items }}` }, 'result');
  at.link({ id: last, handle: null }, result);
  return { ...oneWay(result, listPlace(at, result)), entry: all, main: last, called: id };
}

export const googleSheets: Service = {
  id: 'google-sheets',
  name: 'Google Sheets',
  since: 3,
  resource: 'sheet',
  byDefault: { sheet: 'read' },
  operations: {
    'sheet/read': read,
    'sheet/append': append,
    'sheet/update': (given, service) => update(given, service, false),
    'sheet/appendOrUpdate': (given, service) => update(given, service, true),
  },
};
