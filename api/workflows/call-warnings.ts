// Finds warnings about the workflows that a drawing runs as sub-workflows or as tools of agents. Reads the database,
// which alone knows the existing workflows.
import type { Db } from '../../db/core/client.js';
import { findCallable } from '../../db/workflows/called-workflows.js';
import type { StoredDrawing } from '../../db/workflows/workflows-repository.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { agentNode, workflowToolsOf } from '../../graph/nodes/agent.js';
import { calledWorkflow, workflowNode } from '../../graph/nodes/workflow.js';

export interface CallWarning {
  node_id: string;
  code: 'recursive_workflow' | 'unknown_workflow';
  message: string;
}

type Caller = Pick<StoredDrawing, 'id' | 'project_id' | 'document'>;

interface Call {
  id: string;
  node: JsonObject;
  called: number;
}

/** The limit on the calls that `callsIn` returns: more than people draw, and a bound for hostile drawings. */
const MAX_FINDINGS = 1000;

/** Returns the calls of a drawing. The drawing may be invalid. */
export function callsIn(drawing: JsonObject): Call[] {
  const nodes: unknown[] = Array.isArray(drawing['nodes']) ? drawing['nodes'] : [];
  return nodes
    .filter(isObject)
    .flatMap((node) => {
      const { id, type, data } = node;
      if (typeof id !== 'string' || !isObject(data)) return [];
      return callsOf(type, data).map((called) => ({ id, node, called }));
    })
    .slice(0, MAX_FINDINGS);
}

export async function findCallWarnings(db: Db, { id: own, project_id, document }: Caller): Promise<CallWarning[]> {
  const calls = callsIn(document);
  const ids = calls.map(({ called }) => called);
  const callable = await findCallable(db, project_id, ids);
  return calls.flatMap(({ id, called }): CallWarning[] => {
    if (called === own) {
      const message = 'The workflow runs itself. Sub-workflows may start each other 10 deep.';
      return [{ node_id: id, code: 'recursive_workflow', message }];
    }
    if (callable.has(called)) return [];
    const message = `The project has no workflow ${called}, or it is archived: the node fails with workflow_not_found.`;
    return [{ node_id: id, code: 'unknown_workflow', message }];
  });
}

function callsOf(type: unknown, data: JsonObject): number[] {
  if (type === agentNode.type) return [...new Set(workflowToolsOf(data))];
  const called = type === workflowNode.type ? calledWorkflow(data) : undefined;
  return called === undefined ? [] : [called];
}
