import type { JsonObject } from '../drawing/json.js';
import type { Path } from './schema.js';

export interface SchemaFieldProps {
  schema: JsonObject;
  /** Where the value is in the node's data. */
  path: Path;
  /** The accessible name: the schema's title. */
  label: string;
  /** Undefined: the key is not there. */
  value: unknown;
  isRequired?: boolean;
  /** Undefined takes the key away. */
  onChange: (path: Path, value: unknown) => void;
}
