// The facts that a table states of the operations of a service node of n8n.
import type { JsonObject } from '../../graph/json.js';
import type { TranslatedNode } from '../node-translation.js';
import type { Given } from './given.js';

export interface Operation {
  /** The id of the action in the catalogue. */
  action: string;
  /** The values by field of the action. */
  values: (given: Given) => JsonObject;
  /** The field of the answer that holds the items. */
  items?: string;
  /** The items that n8n makes of the answer. */
  after?: After | ((given: Given) => After);
  /** What n8n puts out in the place of the answer. */
  gives?: (given: Given) => JsonObject;
  /** Sentences on what is not as in n8n. */
  differs?: (given: Given) => (string | false | undefined)[];
}

export interface After {
  /** A text of the runtime. */
  part: string;
  /** An expression of `items`, the answer in a list. */
  returns: string;
}

/** An operation that needs more than one request. */
type Translate = (given: Given, service: Service) => TranslatedNode;

export interface Service {
  /** The id in the catalogue. */
  id: string;
  /** The name that people know. */
  name: string;
  /** The first version of the node that has these parameters. */
  since?: number;
  /** The resource and the operations that n8n takes for a file that names none. */
  resource: string;
  byDefault: Readonly<Record<string, string>>;
  /** By resource and operation, with a slash between. */
  operations: Readonly<Record<string, Operation | Translate>>;
}
