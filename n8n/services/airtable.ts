// The operations of n8n's Airtable node, from its version 2 on, and the actions that they become.
import { isObject, type JsonObject } from '../../graph/json.js';
import { NotTranslatable } from '../node-translation.js';
import { filled, type Given } from './given.js';
import type { Service } from './operation.js';

/** n8n puts the fields of a record beside its id. Airtable has them in `fields`. */
const RECORDS = String.raw`
const flat = ({ fields, ...rest }) => ({ ...rest, ...fields });
`;

function table(given: Given): JsonObject {
  return {
    baseId: given.id('base', /airtable\.com\/([a-zA-Z0-9]{2,})/),
    tableIdOrName: given.id('table', /airtable\.com\/[a-zA-Z0-9]{2,}\/([a-zA-Z0-9]{2,})/),
  };
}

function record(given: Given): JsonObject {
  return { ...table(given), recordId: given.id('id', /airtable\.com\/\w{2,}\/\w{2,}\/(?:viw\w+\/)?(rec\w+)/) };
}

/** Returns the fields that the user has mapped, or all fields of the item except those to ignore. */
function fields(given: Given): unknown {
  // The action has no use for these entries of `columns`. Reading them here prevents a warning about them.
  for (const name of ['schema', 'attemptToConvertTypes', 'convertFieldsToString']) given.raw(`columns.${name}`);
  const mode = given.word('columns.mappingMode', 'defineBelow');
  if (mode === 'defineBelow') return given.value('columns.value') ?? {};
  if (mode !== 'autoMapInputData') throw new NotTranslatable(`its mapping "${mode}" has no equivalent`);
  const ignored = given
    .word('options.ignoreFields', '')
    .split(',')
    .flatMap((name) => name.trim() || []);
  if (ignored.length === 0) return given.at.value('={{ $json }}', 'columns');
  const kept = `Object.fromEntries(Object.entries($json).filter(([name]) => !${JSON.stringify(ignored)}.includes(name)))`;
  return given.at.value(`={{ ${kept} }}`, 'columns');
}

function typecast(given: Given): JsonObject {
  return { typecast: given.value('options.typecast') ?? false };
}

export const airtable: Service = {
  id: 'airtable',
  name: 'Airtable',
  since: 2,
  resource: 'record',
  byDefault: { record: 'get', base: 'getMany' },
  operations: {
    'record/get': {
      action: 'get_record',
      values: record,
      after: { part: RECORDS, returns: 'items.map(flat)' },
    },
    'record/create': {
      action: 'create_records',
      values: (given) => {
        given.raw('columns.matchingColumns');
        return { ...table(given), fields: fields(given), ...typecast(given) };
      },
    },
    'record/update': {
      action: 'update_record',
      values: (given) => {
        const matching = given.raw('columns.matchingColumns');
        if (!Array.isArray(matching) || !matching.includes('id'))
          throw new NotTranslatable('it looks for the records that it changes');
        const own = fields(given);
        if (!isObject(own)) throw new NotTranslatable('it takes all fields of an item, its id included');
        const { id, ...rest } = own;
        return { ...table(given), recordId: id ?? '', fields: rest, ...typecast(given) };
      },
    },
    'record/upsert': {
      action: 'update_records',
      values: (given) => {
        const matching = given.raw('columns.matchingColumns');
        if (!Array.isArray(matching) || matching.length === 0 || matching.length > 3 || matching.includes('id'))
          throw new NotTranslatable('it does not look for records by one to three fields');
        return {
          ...table(given),
          records: [{ fields: fields(given) }],
          performUpsert: { fieldsToMergeOn: matching },
          ...typecast(given),
        };
      },
      items: 'records',
      differs: () => ['Airtable itself looks for the record: several that match are an error.'],
    },
    'record/deleteRecord': { action: 'delete_record', values: record },
    'record/search': {
      action: 'list_records',
      values: (given) => {
        const isAll = given.raw('returnAll') !== false;
        const own = given.number('limit') ?? 100;
        const view = given.id('options.view');
        return filled({
          ...table(given),
          ...given.fields('', { filterByFormula: 'filterByFormula' }),
          view: view === '' ? undefined : view,
          ...(isAll ? { pageSize: 100 } : { maxRecords: own }),
        });
      },
      after: { part: RECORDS, returns: '(items[0]?.records ?? []).map(flat)' },
      differs: (given) => [given.raw('returnAll') !== false && 'Here come the first 100 records, and not all.'],
    },
  },
};
