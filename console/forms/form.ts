import { createContext, use, type ReactNode } from 'react';
import type { Chip } from '../drawing/chips.js';
import type { JsonObject } from '../ui/json.js';
import type { VariableGroup } from '../drawing/variables.js';
import type { Path } from './schema.js';

/** What the fields know of the variables that they hold. */
export interface KnownVariables {
  /** The variables that can be inserted, with the beginnings of their values where these are known. */
  groups: () => VariableGroup[];
  /** Returns the chip of the text between the braces. */
  chipOf: (expression: string) => Chip;
  /** Returns the value as it is rendered, on one line; undefined if none of its variables has a known value. */
  preview: (value: unknown) => string | undefined;
  /** The values of the newest run are read once they are wanted. */
  want: () => void;
}

/** The event by which the page inserts a text at the caret of an editor. Its `detail` is the text. */
export const INSERT = 'insert-text';

/** The state that all fields of one form share. */
interface FormState {
  isReadOnly: boolean;
  /** The problems of fields, by path with dots. */
  errors: ReadonlyMap<string, string>;
  /** The control of a value whose schema has a `format` that the page knows; undefined for any other. */
  fieldOf?: (format: string, props: SchemaFieldProps) => ReactNode;
  variables?: KnownVariables;
}

export const FormContext = createContext<FormState>({ isReadOnly: false, errors: new Map() });

export function useFieldError(path: readonly (string | number)[]): string | undefined {
  return use(FormContext).errors.get(path.join('.'));
}

export interface SchemaFieldProps {
  schema: JsonObject;
  /** The path of the value in the node's data. */
  path: Path;
  /** The accessible name: the schema's title. */
  label: string;
  /** The value is undefined if the key is not there. */
  value: unknown;
  isRequired?: boolean;
  /** A value of undefined takes the key away. */
  onChange: (path: Path, value: unknown) => void;
}
