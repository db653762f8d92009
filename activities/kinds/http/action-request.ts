// The request of an action, for HTTP nodes and for agents' tools (docs/use/services.md).
import { findConnectionsOf } from '../../../db/connections/connections-repository.js';
import type { Database } from '../../../db/core/client.js';
import { hasHostOfAccount, serverFor, type ActionFacts } from '../../../graph/actions/action.js';
import { renderAction, type ActionRequest } from '../../../graph/actions/render-request.js';
import type { JsonObject } from '../../../graph/json.js';
import { NodeError } from '../../../graph/node-error.js';
import { isHeaderName, isHeaderValue } from '../../../outgoing/header-text.js';
import { NodeFailure } from '../../node/failures.js';
import type { NodeTask } from '../../node/node-step.js';

interface CalledAction {
  facts: ActionFacts;
  /** By field, with variables filled in. */
  values: JsonObject;
  connection: number | null | undefined;
}

/**
 * Throws a `NodeFailure`: `invalid_value`, `invalid_header`, `connection_missing`, or `connection_origin` if the host
 * differs from account to account and the connection has none that fits.
 */
export async function toActionRequest(
  db: Database,
  { run }: NodeTask,
  { facts, values, connection }: CalledAction,
): Promise<ActionRequest & { drawnUrl: string }> {
  const origins = hasHostOfAccount(facts.server) ? await originsOf(db, run.projectId, connection) : [];
  const server = serverFor(facts, origins);
  if (server === undefined) {
    throw new NodeFailure('connection_origin', `The connection has no origin for the address ${facts.server}.`);
  }
  const request = rendered(facts, values, server);
  for (const [name, value] of Object.entries(request.headers)) {
    if (isHeaderName(name) && isHeaderValue(value)) continue;
    const message = `The value of header "${name}" holds a character that headers cannot carry.`;
    throw new NodeFailure('invalid_header', message);
  }
  return { ...request, drawnUrl: server };
}

async function originsOf(db: Database, projectId: number, id: number | null | undefined): Promise<string[]> {
  if (id === undefined || id === null) return [];
  const [found] = await findConnectionsOf(db, projectId, [id]);
  if (found === undefined) throw new NodeFailure('connection_missing', 'The project has no such connection.');
  return found.origins;
}

function rendered(facts: ActionFacts, values: JsonObject, server: string): ActionRequest {
  try {
    return renderAction(facts, values, server);
  } catch (error) {
    throw error instanceof NodeError ? new NodeFailure(error.code, error.message) : error;
  }
}
