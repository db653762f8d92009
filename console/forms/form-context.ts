import { createContext, use } from 'react';

/** What all fields of one form share. */
export interface FormState {
  isReadOnly: boolean;
  /** What is wrong, by path with dots. */
  errors: ReadonlyMap<string, string>;
}

export const FormContext = createContext<FormState>({ isReadOnly: false, errors: new Map() });

export function useFieldError(path: readonly (string | number)[]): string | undefined {
  return use(FormContext).errors.get(path.join('.'));
}
