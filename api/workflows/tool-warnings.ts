// Finds warnings about the tools that the agents of a drawing are not offered. No server is called: the last listing,
// by `mcp-tools` or a run, has stored them.
import { listRefusedTools } from '../../db/agents/refused-tools-repository.js';
import type { Db } from '../../db/core/client.js';
import type { StoredDrawing } from '../../db/workflows/workflows-repository.js';

export interface ToolWarning {
  node_id: string;
  code: 'tool_left_out';
  message: string;
}

/** The limit of all kinds of warnings. */
const MAX_FINDINGS = 1000;

export async function findToolWarnings(db: Db, { id, version }: Pick<StoredDrawing, 'id' | 'version'>) {
  const found = await listRefusedTools(db, id, version);
  return found
    .flatMap(({ nodeId, serverLabel, tools }) =>
      tools.map(({ name, reason }): ToolWarning => {
        const which = name === '' ? 'A tool' : `The tool "${name}"`;
        const message = `${which} of the server "${serverLabel}" is left out of the agent. ${reason}`;
        return { node_id: nodeId, code: 'tool_left_out', message };
      }),
    )
    .slice(0, MAX_FINDINGS);
}
