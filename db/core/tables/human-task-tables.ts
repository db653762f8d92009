// Human tasks.
import type { Generated } from 'kysely';
import type { Json } from './column-types.js';

export type HumanTaskStatus = 'pending' | 'answered' | 'expired';

/**
 * Writers: the worker asks, and expires what nobody has answered in time; the API settles a task by an answer, under
 * its row lock.
 */
export interface HumanTasksTable {
  task_id: Generated<string>;
  run_id: string;
  /** The iteration that encloses the node (`NodeKey`); empty outside loops. */
  path: string;
  node_id: string;
  /** A copy of the run's. */
  project_id: number;
  /** The label as drawn when the run was accepted, at most 60 characters. */
  node_label: string;
  /** The message with its variables filled in, secrets masked. */
  message: string;
  /** The fields have the form of a trigger's fields. */
  fields: Json<unknown>;
  /** Values of files, which the people see. */
  files: Json<unknown>;
  /** `{id, label}` each. */
  actions: Json<unknown>;
  /** Members of the project with one of these roles, or with one of these ids, may answer. */
  roles: string[];
  users: number[];
  exclude_starter: boolean;
  required: number;
  status: Generated<HumanTaskStatus>;
  /** The number of answers that were counted and have not settled the task. */
  counted: Generated<number>;
  /** The action that enough people have chosen. */
  action: string | null;
  created_at: Generated<Date>;
  expires_at: Date;
  settled_at: Date | null;
}

/** Writer: the API, one row a person. */
export interface HumanAnswersTable {
  task_id: string;
  user_id: number;
  action: string;
  /** Values by the ids of the fields, secrets masked. */
  entered: Json<unknown>;
  /** The unmasked form, sealed; null when there is nothing to unmask. */
  entered_enc: Buffer | null;
  comment: string;
  answered_at: Generated<Date>;
}
