import type { Connections } from '../../connections/open-connection.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { ByteBudget } from '../../memory/byte-budget.js';
import type { HeavyWork } from '../http/heavy-work.js';
import type { McpClient } from '../../outgoing/mcp-types.js';

export interface McpClientDeps {
  db: Database;
  secretBox: SecretBox;
  connections: Connections;
  memory: ByteBudget;
  heavyWork: HeavyWork;
  mcp: McpClient;
}
