// The operations of n8n's Notion node, from its version 2 on, and the actions that they become.
import { NotTranslatable } from '../node-translation.js';
import { filled, type Given } from './given.js';
import type { Service } from './operation.js';

const PAGE = /(?:[a-zA-Z0-9-]+-)?([0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12})/;

function filter(given: Given): unknown {
  const kind = given.word('filterType', 'none');
  if (kind === 'none') return undefined;
  if (kind !== 'json') throw new NotTranslatable('its filters are in the form of n8n');
  const read = given.at.jsonText(given.raw('filterJson') ?? '', 'filterJson');
  if (read === undefined) throw new NotTranslatable('its filter is no JSON that can be translated');
  return read;
}

/** By default, n8n puts the properties of a page beside its id. Returns the warning that this is not done here. */
function plain(given: Given): (string | false)[] {
  return [given.raw('simple') !== false && 'n8n simplifies pages. Here they come as Notion gives them.'];
}

export const notion: Service = {
  id: 'notion',
  name: 'Notion',
  since: 2,
  resource: 'page',
  byDefault: { page: 'create', databasePage: 'create', database: 'get', block: 'append', user: 'get' },
  operations: {
    'databasePage/getAll': {
      action: 'query_database',
      items: 'results',
      values: (given) =>
        filled({
          database_id: given.id('databaseId', PAGE),
          filter: filter(given),
          page_size: given.raw('returnAll') === true ? 100 : (given.number('limit') ?? 50),
        }),
      differs: (given) => [
        ...plain(given),
        given.raw('returnAll') === true && 'Here come the first 100 pages, and not all.',
      ],
    },
    'databasePage/get': {
      action: 'retrieve_page',
      values: (given) => ({ page_id: given.id('pageId', PAGE) }),
      differs: plain,
    },
    'database/get': {
      action: 'retrieve_database',
      values: (given) => ({ database_id: given.id('databaseId', PAGE) }),
      differs: plain,
    },
    'page/archive': {
      action: 'update_page',
      values: (given) => ({ page_id: given.id('pageId', PAGE), archived: true }),
      differs: plain,
    },
  },
};
