import { createContext, use, type ReactNode } from 'react';
import type { JsonObject } from '../drawing/json.js';
import type { Path } from './schema.js';

/** The state that all fields of one form share. */
interface FormState {
  isReadOnly: boolean;
  /** The problems of fields, by path with dots. */
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
