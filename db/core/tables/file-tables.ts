// Files of projects. Extensions, section 12.
import type { Generated } from 'kysely';

/** Writer: the first process that opens the store. At most one row. */
export interface FileStoreTable {
  mark: string;
}

/** Writers: whoever saves a file, and the sweep. */
export interface FileCopiesTable {
  /** UUID. */
  id: string;
  project_id: number;
  /** Random; the name of the bytes in the store. */
  name: string;
  status: Generated<'writing' | 'stored' | 'deleting'>;
  /** As many bytes as have been written so far, or all. */
  bytes: Generated<number>;
  /** Null until all bytes are stored. */
  sha256: Buffer | null;
  /** The id of the key and the salt, from which the key of this copy is derived. */
  seal: Buffer;
  touched_at: Generated<Date>;
}

/** Writers: whoever saves or deletes a file, and the sweep. */
export interface FilesTable {
  /** UUID. */
  id: string;
  project_id: number;
  /** Null: the file was deleted. */
  copy_id: string | null;
  name: string;
  /** The media type as it was declared. */
  type: string;
  size: number;
  sha256: Buffer;
  /** The run that made it. */
  run_id: string | null;
  /** Who uploaded it. */
  user_id: number | null;
  created_at: Generated<Date>;
}

export type HolderKind = 'run' | 'pin' | 'case' | 'drawing' | 'schedule' | 'message';

/** Writers: whoever writes a value that holds files, in the transaction of the value; triggers; and retention. */
export interface FileReferencesTable {
  file_id: string;
  kind: HolderKind;
  /** The id of a run, case, schedule, message, answer to one, or conversation; `WORKFLOW/VERSION` of a drawing; `WORKFLOW/PATH/NODE` of a pin. */
  holder: string;
}
