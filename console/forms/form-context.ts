import { createContext, use, type ReactNode } from 'react';
import type { SchemaFieldProps } from './field-props.js';

/** What all fields of one form share. */
export interface FormState {
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
