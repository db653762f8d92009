// Reads the OpenAPI document of a request into a service, in a separate process (docs/use/services.md).
import type { ServiceFields } from '../../db/services/services-repository.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { ProcessesBusyError } from '../../processes/processes.js';
import {
  CHARACTERS_OF_BYTE,
  MAX_DOCUMENT_BYTES,
  MORE_CHARACTERS,
  type OpenapiReply,
  type OpenapiWork,
} from '../../processes/read-openapi.js';
import type { ServiceWarning } from '../../openapi/read-openapi.js';
import { invalidFields, jsonParseError, overloaded } from '../http/errors.js';
import type { ServiceDeps } from './deps.js';
import { fetchDocument } from './fetch-document.js';

const WITHIN_MS = 10_000;
/** The limit on documents of a user that wait for a process. */
const MAX_WAITING = 8;
/**
 * Bytes of memory in this process per byte of a document: the document, the message with it, and the actions, at a byte
 * per character.
 */
const COPIES = 2 + CHARACTERS_OF_BYTE;
/** Bytes of memory for the actions in addition to those per byte; a character takes up to two bytes. */
const MORE_BYTES = 2 * MORE_CHARACTERS;

export interface GivenService {
  fields: ServiceFields;
  warnings: ServiceWarning[];
}

interface Asked {
  userId: number;
  memory: ByteLease;
  signal: AbortSignal;
}

/**
 * Throws 400 for a body or document that cannot be used, and 503 if too many documents of the user wait for a process,
 * or none can be started. `bytes` is the body of the request.
 */
export async function readService(deps: ServiceDeps, bytes: Buffer, asked: Asked): Promise<GivenService> {
  const { addressRules } = deps.config;
  await asked.memory.resize(asked.memory.bytes + COPIES * bytes.length + MORE_BYTES);
  const reply = await read(deps, { bytes, isBody: true, addressRules }, asked);
  if (reply.kind !== 'openapi-address') return toService(reply);
  const { address, name, serverUrl } = reply;
  const { outgoing } = deps;
  const reserve = (): Promise<void> | undefined => asked.memory.resize(asked.memory.bytes + MAX_DOCUMENT_BYTES);
  const document = await fetchDocument(address, { outgoing, signal: asked.signal, reserve });
  await asked.memory.resize(asked.memory.bytes + (COPIES - 1) * document.bytes.length);
  const work = { bytes: document.bytes, isBody: false, documentUrl: document.url, serverUrl, addressRules };
  return toService(await read(deps, work, asked), name);
}

async function read(
  { openapiProcesses }: ServiceDeps,
  work: OpenapiWork,
  { userId, signal }: Asked,
): Promise<OpenapiReply> {
  const options = { owner: userId, signal, limitMs: WITHIN_MS, maxWaiting: MAX_WAITING };
  const reply = await openapiProcesses.run({ kind: 'openapi', ...work }, options).catch((error: unknown) => {
    throw error instanceof ProcessesBusyError ? overloaded() : error;
  });
  if (reply === undefined) {
    throw invalidFields({ openapi: ['The document takes too long or too much memory to be read.'] });
  }
  return reply as OpenapiReply;
}

function toService(reply: OpenapiReply, name?: string): GivenService {
  if (reply.kind === 'openapi-refused') {
    throw reply.field === 'body' ? jsonParseError(reply.message) : invalidFields({ [reply.field]: [reply.message] });
  }
  if (reply.kind !== 'openapi-service') throw new Error('a fetched document was read as the address of a document');
  const fields = toFields(reply);
  return { fields: { ...fields, name: name ?? fields.name }, warnings: reply.service.warnings };
}

export function toFields({
  service,
  actionCount,
  lists,
}: Extract<OpenapiReply, { kind: 'openapi-service' }>): ServiceFields {
  const {
    name,
    description,
    version,
    documentation_url: documentationUrl,
    connection_kinds: connectionKinds,
  } = service;
  return { name, description, version, documentationUrl, connectionKinds, actionCount, lists };
}
