import { createContext, use, type ReactNode } from 'react';
import type { JsonObject } from '../drawing/json.js';
import type { Path } from './schema.js';

/** What all fields of one form share. */
interface FormState {
  isReadOnly: boolean;
  /** What is wrong, by path with dots. */
  errors: ReadonlyMap<string, string>;
  /** The control of a value whose schema has a `format` that the page knows; undefined for any other. */
  fieldOf?: (format: string, props: SchemaFieldProps) => ReactNode;
}

export const FormContext = createContext<FormState>({ isReadOnly: false, errors: new Map() });

export function useFieldError(path: readonly (string | number)[]): string | undefined {
  return use(FormContext).errors.get(path.join('.'));
}

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
