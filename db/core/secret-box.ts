// Seals secrets at rest with AES-256-GCM.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/**
 * The kinds of sealed values, each with the key of the row that it belongs to. Kind and row are associated data, so a
 * value cannot be opened in another row, in another project, or as another kind.
 */
export interface SealedRows {
  /** Used for the workflow and for each of its versions. */
  'workflow-secrets': [projectId: number, workflowId: number];
  'draft-secrets': [projectId: number, workflowId: number, userId: number];
  'run-input': [projectId: number, runId: string];
  'run-secrets': [projectId: number, runId: string];
  'passed-secrets': [projectId: number, runId: string];
  'loop-item': [runId: string, path: string, nodeId: string, index: number];
  'node-result': [runId: string, path: string, nodeId: string];
  'agent-tools': [runId: string, path: string, nodeId: string];
  'agent-message': [runId: string, path: string, nodeId: string, turn: number];
  'agent-arguments': [runId: string, path: string, nodeId: string, turn: number, ordinal: number];
  'agent-answer': [runId: string, path: string, nodeId: string, turn: number, ordinal: number];
  'agent-edit': [requestId: string];
  'callback-token': [runId: string, path: string, nodeId: string];
  'callback-answer': [runId: string, path: string, nodeId: string];
  'hook-token': [hookId: number];
  'hook-secret': [hookId: number];
  'connection-secrets': [projectId: number, connectionId: number];
  'connection-tokens': [projectId: number, connectionId: number];
  'connection-flow': [connectionId: number, stateHash: string];
  'fixed-result': [runId: string, path: string, nodeId: string];
  case: [workflowId: number, caseId: number];
  'case-run': [caseRunId: string];
  'case-result': [caseRunId: string, caseId: number];
  pin: [workflowId: number, path: string, nodeId: string];
  'schedule-input': [scheduleId: string];
  'conversation-inputs': [conversationId: string];
  message: [messageId: string];
  'human-answer': [taskId: string, userId: number];
  'provider-key': [projectId: number, provider: string];
  /** Used for the current and the previous secret. */
  'webhook-secret': [projectId: number];
  'idempotency-key': [userId: number, key: string];
  /** Stored in no row, because it is part of the link. */
  'file-link': [];
  /** Stored in no row, because the client sends it with each request. */
  'tool-session': [];
  /** Stored in no row, because the worker sends it with each request. */
  'assistant-token': [];
}

export type SecretContext = keyof SealedRows;

/** A stored value was sealed with a key that this process does not have. */
export class MissingKeyError extends Error {
  override name = 'MissingKeyError';

  constructor(id: string) {
    super(`SECRETS_KEY: the key ${id}, with which a stored value is sealed, is not among the keys given.`);
  }
}

export interface SecretBox {
  /** Identifies the sealing key without revealing anything about it. */
  readonly keyId: string;
  /** The ids of all keys; the first one seals. */
  readonly keyIds: readonly string[];
  seal<C extends SecretContext>(plain: string, context: C, ...row: SealedRows[C]): Buffer;
  /** Throws `MissingKeyError`, or another error if the value was changed or sealed for another kind or row. */
  open<C extends SecretContext>(box: Buffer, context: C, ...row: SealedRows[C]): string;
}

const VERSION = 2;
const HEADER_BYTES = 1 + 4 + 12; // version, key id, nonce
const TAG_BYTES = 16;

/** `keys` have 32 bytes each. The first one seals, all of them open. To rotate, put the new key first. */
export function createSecretBox(keys: Buffer[]): SecretBox {
  const byId = new Map(keys.map((key) => [keyId(key).toString('hex'), key]));
  const current = keys[0];
  if (current === undefined) throw new Error('a secret box needs a key');
  return {
    keyId: keyId(current).toString('hex'),
    keyIds: [...byId.keys()],
    seal(plain, context, ...row) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', current, nonce).setAAD(associatedData(context, row));
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.from([VERSION]), keyId(current), nonce, cipher.getAuthTag(), sealed]);
    },
    open(box, context, ...row) {
      if (box[0] !== VERSION || box.length < HEADER_BYTES + TAG_BYTES) throw new Error('not a sealed value');
      const id = box.subarray(1, 5).toString('hex');
      const key = byId.get(id);
      if (key === undefined) throw new MissingKeyError(id);
      const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(5, HEADER_BYTES))
        .setAAD(associatedData(context, row))
        .setAuthTag(box.subarray(HEADER_BYTES, HEADER_BYTES + TAG_BYTES));
      const plain = Buffer.concat([decipher.update(box.subarray(HEADER_BYTES + TAG_BYTES)), decipher.final()]);
      return plain.toString('utf8');
    },
  };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** UUIDs are lowercased, because callers may write them in capitals. */
function associatedData(context: SecretContext, row: readonly (string | number)[]): Buffer {
  const parts = row.map(String).map((part) => (UUID.test(part) ? part.toLowerCase() : part));
  return Buffer.from(JSON.stringify([context, ...parts]));
}

function keyId(key: Buffer): Buffer {
  return createHash('sha256').update(key).digest().subarray(0, 4);
}
