// The types of the tables that say which operation of a service node of n8n becomes which action.
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
  /** Code that turns the answer into the items that n8n outputs. */
  after?: After | ((given: Given) => After);
  /** The item that n8n outputs instead of the answer. */
  gives?: (given: Given) => JsonObject;
  /** Sentences about differences from n8n. */
  differs?: (given: Given) => (string | false | undefined)[];
}

export interface After {
  /** JavaScript that defines the functions of `returns`. */
  part: string;
  /** An expression that reads `items`: the answer in a list, or the answer itself if it is a list. */
  returns: string;
  /** Further inputs of the code. */
  inputs?: JsonObject;
}

/** Translates an operation that `Operation` cannot describe, for example one with several requests or with a file. */
type Translate = (given: Given, service: Service) => TranslatedNode;

export interface Service {
  /** The id in the catalogue. */
  id: string;
  /** The name that people know. */
  name: string;
  /** The first version of the node that has these parameters. */
  since?: number;
  /** The resource that n8n uses if the file names none. `byDefault` has default operations by resource. */
  resource: string;
  byDefault: Readonly<Record<string, string>>;
  /** The keys are `resource/operation`. */
  operations: Readonly<Record<string, Operation | Translate>>;
}
