import type { ServiceFields } from '../../db/services/services-repository.js';
import { readOpenapiWork } from '../../processes/read-openapi.js';
import { toFields } from './read-service.js';

/** Reads an OpenAPI document that this build has written. It is trusted, so it is read in this process. */
export function readOwnDocument(document: object): ServiceFields {
  const bytes = Buffer.from(JSON.stringify({ openapi: document }));
  const reply = readOpenapiWork({ bytes, isBody: true, addressRules: { allowPrivateNetwork: true } });
  if (reply.kind !== 'openapi-service') throw new Error(`the document cannot be used: ${JSON.stringify(reply)}`);
  return toFields(reply);
}
