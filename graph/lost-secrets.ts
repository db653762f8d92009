// `********` that stands for nothing: the place has another name, node or server than the one whose value was stored, or
// the workflow was created with it. It is kept in the drawing and never sent (specification, "Trigger input field").
import { isEmpty, ownValue, type JsonObject } from './json.js';
import { isLost, mapSecrets, MASK, type SecretMap } from './secrets.js';
import type { NodeErrors, Warning } from './validate.js';
import type { RunInput } from './variable.js';

const MAX_FINDINGS = 1000;

export interface LostSecret {
  kind: 'field' | 'header';
  nodeId: string;
  /** The field's id, or where the header stands inside the node's data. */
  where: string;
  /** Of a field: the workflow was created like this, and the field counts as not given. */
  isLiteral: boolean;
}

/** `drawing` compiles and has its secrets in it: what still says `********` has none. */
export function findLostSecrets(drawing: JsonObject, secrets: SecretMap): LostSecret[] {
  const found: LostSecret[] = [];
  mapSecrets(drawing, (value, { name, nodeId, path, label }) => {
    if (value !== MASK || typeof nodeId !== 'string' || found.length >= MAX_FINDINGS) return value;
    const isHeader = name.startsWith('header:');
    const [kind, where] = isHeader ? (['header', path] as const) : (['field', label] as const);
    found.push({ kind, nodeId, where, isLiteral: !isHeader && !isLost(secrets, name) });
    return value;
  });
  return found;
}

/** Why a run cannot start: credential headers of its nodes, and lost fields of its start that `input` does not give. */
export function lostSecretErrors(
  lost: readonly LostSecret[],
  { nodeIds, startNode, input }: { nodeIds: readonly string[]; startNode: string; input: RunInput },
): NodeErrors {
  const running = new Set(nodeIds);
  const errors = new Map<string, Record<string, string>[]>();
  for (const { kind, nodeId, where, isLiteral } of lost) {
    const isMissed = nodeId === startNode && !isLiteral && isEmpty(ownValue(input, where));
    if (kind === 'header' ? !running.has(nodeId) : !isMissed) continue;
    const message = `The stored value does not belong to this ${kind} any more; enter it again.`;
    errors.set(nodeId, [...(errors.get(nodeId) ?? []), { [where]: message }]);
  }
  return Object.fromEntries(errors);
}

export function lostSecretWarnings(lost: readonly LostSecret[]): Warning[] {
  return lost.map(({ kind, nodeId, where, isLiteral }) => {
    const fate = isLiteral ? 'and counts as not given' : 'and is not sent';
    return {
      node_id: nodeId,
      code: 'lost_secret',
      message: `The ${kind} ${where} has no stored value for ******** ${fate}; enter it again.`,
    };
  });
}
