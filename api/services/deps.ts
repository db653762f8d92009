import type { Environment } from '../../config/environment.js';
import type { Database } from '../../db/core/client.js';
import type { OutgoingClient } from '../../outgoing/outgoing-client.js';
import type { Processes } from '../../processes/processes.js';

export interface ServiceDeps {
  db: Database;
  outgoing: OutgoingClient;
  /** Processes with the memory limits for reading OpenAPI documents. */
  openapiProcesses: Processes;
  config: Pick<Environment, 'addressRules'>;
}
