import type { Client } from '@temporalio/client';
import type { Environment } from '../../config/environment.js';
import type { Connections } from '../../connections/open-connection.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { McpClient } from '../../outgoing/mcp-types.js';
import type { OutgoingClient } from '../../outgoing/outgoing-client.js';
import type { TrustedProxies } from '../access/visitor.js';

export interface ConnectionDeps {
  db: Database;
  secretBox: SecretBox;
  temporal: Client;
  connections: Connections;
  outgoing: OutgoingClient;
  mcp: McpClient;
  signIn: { trustedProxies: TrustedProxies };
  config: Pick<Environment, 'addressRules' | 'publicUrl'>;
}
