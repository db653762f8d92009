// The operations of n8n's Supabase node, and the actions that they become.
import { isObject } from '../../graph/json.js';
import { fromEntries } from '../draft.js';
import { objectsOf } from '../n8n-file.js';
import { NotTranslatable } from '../node-translation.js';
import { filled, type Given } from './given.js';
import type { Service } from './operation.js';

function row(given: Given): unknown {
  if (given.word('dataToSend', 'defineBelow') === 'defineBelow') {
    const pairs = objectsOf(given.raw('fieldsUi.fieldValues')).map(({ fieldId, fieldValue }) => {
      const name = given.at.text(fieldId ?? '', 'fieldsUi');
      if (name.includes('{{')) throw new NotTranslatable('the name of a field is known only when it runs');
      return [name, given.at.value(fieldValue ?? '', `fieldsUi.${name}`)] as const;
    });
    return fromEntries(pairs);
  }
  const ignored = given
    .word('inputsToIgnore', '')
    .split(',')
    .flatMap((name) => name.trim() || []);
  const kept = `Object.fromEntries(Object.entries($json).filter(([name]) => !${JSON.stringify(ignored)}.includes(name)))`;
  return given.at.value(`={{ ${kept} }}`, 'row');
}

export const supabase: Service = {
  id: 'supabase',
  name: 'Supabase',
  resource: 'row',
  byDefault: { row: 'create' },
  operations: {
    'row/create': {
      action: 'insert_rows',
      values: (given) => ({ table: given.text('tableId'), Prefer: 'return=representation', body: row(given) }),
    },
    'row/getAll': {
      action: 'select_rows',
      values: (given) => {
        const { parameters } = given.at;
        const { filterType } = parameters;
        if (filterType !== 'none' && (isObject(parameters['filters']) || filterType === 'string'))
          throw new NotTranslatable('it chooses rows by filters');
        given.raw('filterType');
        const isAll = given.raw('returnAll') === true;
        return filled({ table: given.text('tableId'), limit: isAll ? 1000 : (given.number('limit') ?? 50) });
      },
      differs: (given) => [given.raw('returnAll') === true && 'Here come the first 1,000 rows, and not all.'],
    },
  },
};
