// Conversations with workflows. Extensions, section 13.
import type { Generated } from 'kysely';
import type { Json } from './column-types.js';

/** Writers: the API; retention deletes those of deleted workflows and projects. */
export interface ConversationsTable {
  /** UUID. */
  id: string;
  workflow_id: number;
  project_id: number;
  author_id: number;
  title: string;
  /** The author's name for an end user. */
  end_user: string | null;
  /** The other fields of the trigger for each message, sealed. */
  inputs_enc: Buffer;
  created_at: Generated<Date>;
}

/**
 * A message and its answer. Writers: the API, and a trigger when the run of the message ends. It goes with its
 * conversation.
 */
export interface ConversationMessagesTable {
  /** UUID. */
  id: string;
  conversation_id: string;
  /** The place in the conversation, counted from 1, in the order in which runs get their turn. */
  ordinal: number;
  run_id: string;
  /** The message before it in its branch; null for the first one. */
  follows: string | null;
  /** The message in whose place it was asked. */
  replaces: string | null;
  /** Masked. */
  content: string;
  /** The whole content, sealed; null where nothing of it is masked. */
  content_enc: Buffer | null;
  /** File values. */
  files: Json<unknown[]>;
  created_at: Generated<Date>;
  /** UUID; null until the run has ended. */
  answer_id: string | null;
  /** Masked; null unless the run has succeeded. */
  answer: string | null;
  answer_files: Json<unknown[]> | null;
  /** True if the run has said more than is kept here. */
  is_answer_cut: Generated<boolean>;
  answered_at: Date | null;
}
