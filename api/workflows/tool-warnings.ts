// Finds warnings about tools of MCP servers that cannot be offered to the agents of a drawing. No server is called: the
// last listing of a server's tools, by the route `mcp-tools/` or by a run, has stored which ones are refused, and why.
import { listRefusedTools } from '../../db/agents/refused-tools-repository.js';
import type { Db } from '../../db/core/client.js';
import type { StoredDrawing } from '../../db/workflows/workflows-repository.js';
import { isEqualJson, type JsonObject } from '../../graph/json.js';
import { mapArray, mapObject } from '../../graph/secrets.js';

export interface ToolWarning {
  node_id: string;
  code: 'tool_left_out';
  message: string;
}

/** The limit on the warnings of this file; other files that find warnings have the same limit. */
const MAX_FINDINGS = 1000;

/** Servers of `drawing` that differ from the stored ones get no warnings, because no listing of theirs is stored. */
export async function findToolWarnings(
  db: Db,
  { id, version, document: stored }: Pick<StoredDrawing, 'id' | 'version' | 'document'>,
  drawing: JsonObject = stored,
): Promise<ToolWarning[]> {
  const found = await listRefusedTools(db, id, version);
  if (found.length === 0) return [];
  const [listed, drawn] = [serversOf(stored), serversOf(drawing)];
  return found
    .filter(({ nodeId, serverLabel }) => {
      const key = keyOf(nodeId, serverLabel);
      return drawing === stored || (drawn.has(key) && isEqualJson(listed.get(key), drawn.get(key)));
    })
    .flatMap(({ nodeId, serverLabel, tools }) =>
      tools.map(({ name, reason }): ToolWarning => {
        const which = name === '' ? 'A tool' : `The tool "${name}"`;
        const message = `${which} of the server "${serverLabel}" is left out of the agent. ${reason}`;
        return { node_id: nodeId, code: 'tool_left_out', message };
      }),
    )
    .slice(0, MAX_FINDINGS);
}

/** Returns the tools of the agents of a drawing, by node and label of the server. The drawing may be invalid. */
function serversOf(drawing: JsonObject): Map<string, unknown> {
  const servers = new Map<string, unknown>();
  mapArray(drawing, 'nodes', (node) =>
    mapObject(node, 'data', (data) =>
      mapArray(data, 'tools', (tool) => {
        servers.set(keyOf(node['id'], tool['server_label']), tool);
        return tool;
      }),
    ),
  );
  return servers;
}

function keyOf(nodeId: unknown, serverLabel: unknown): string {
  return JSON.stringify([nodeId, serverLabel]);
}
