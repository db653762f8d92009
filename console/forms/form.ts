import { createContext, use, type ReactNode } from 'react';
import type { Chip } from '../drawing/chips.js';
import type { JsonObject } from '../../graph/json.js';
import type { VariableGroup } from '../drawing/variables.js';
import type { Path } from './schema.js';

/** The variables of a form and their known values. */
export interface KnownVariables {
  /** Variables to insert, with their known values. */
  groups: () => VariableGroup[];
  /** Returns the chip of the text between the braces. */
  chipOf: (expression: string) => Chip;
  /** Returns the rendered value on one line; undefined if none of its variables has a known value. */
  preview: (value: unknown) => string | undefined;
  /** Loads the values of the latest run. Call it before showing values. */
  want: () => void;
}

/** Event that replaces the selected text of an editor with variables by `detail`. */
export const INSERT = 'insert-text';

/** State shared by all fields of a form. */
interface FormState {
  isReadOnly: boolean;
  /** Errors by dotted field path. */
  errors: ReadonlyMap<string, string>;
  /** Returns the page's control for a schema `format`, or undefined if the page has none. */
  fieldOf?: (format: string, props: SchemaFieldProps) => ReactNode;
  variables?: KnownVariables;
  /** Returns what the page shows beside code in the large editor. */
  besideCode?: (code: Pick<SchemaFieldProps, 'path' | 'value' | 'onChange'>) => ReactNode;
}

export const FormContext = createContext<FormState>({ isReadOnly: false, errors: new Map() });

export function useFieldError(path: readonly (string | number)[]): string | undefined {
  return use(FormContext).errors.get(path.join('.'));
}

export interface SchemaFieldProps {
  schema: JsonObject;
  /** Path of the value in the node's data. */
  path: Path;
  /** Accessible name, usually the schema's title. */
  label: string;
  /** Undefined if the key is absent. */
  value: unknown;
  isRequired?: boolean;
  /** The value undefined removes the key. */
  onChange: (path: Path, value: unknown) => void;
}
