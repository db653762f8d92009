/** What was not taken over from a file as it was, and of which node; null where it is about the whole file. */
export interface ImportWarning {
  node: string | null;
  message: string;
}

/** Enough for any person, and a bound for hostile files. */
export const MAX_IMPORT_WARNINGS = 1000;
