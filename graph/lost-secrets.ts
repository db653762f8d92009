// Finds `********` without a stored value: the stored value belongs to another name, node or server, or the workflow
// was created with `********`. The mask stays in the drawing and is never sent (docs/use/interface-notes/runs.md,
// "Workflows").
import { actionOfTool, isCredentialField } from './actions/action.js';
import { isCredentialHeader } from './credential-headers.js';
import { isEmpty, isObject, ownValue, type JsonObject } from './json.js';
import { MASK } from './mask-text.js';
import { pushTo } from './push-to.js';
import {
  isInAddress,
  isInValues,
  isLost,
  mapSecrets,
  isSecretField,
  mapArray,
  mapObject,
  SECRET_FIELDS,
  traitsOfType,
  type SecretMap,
} from './secrets.js';
import type { NodeErrors } from './validate.js';
import type { RunInput } from './variable.js';
import type { Warning } from './warnings.js';

const MAX_FINDINGS = 1000;

/** `value`: the value of an action's field. */
type Kind = 'field' | 'header' | 'value';

interface LostSecret {
  kind: Kind;
  nodeId: string;
  /** The field's id, or the path of the header or value inside the node's data. */
  where: string;
  /** True if the workflow was created with `********` in this field, secret or not. Such a field counts as missing. */
  isLiteral: boolean;
}

/** Returns the word for messages: a person knows a value of an action as a field that has to be filled in. */
function wordOf(kind: Kind): string {
  return kind === 'value' ? 'field' : kind;
}

/** `drawing` must compile and contain its secrets, so a remaining `********` has no stored value. */
export function findLostSecrets(drawing: JsonObject, secrets: SecretMap): LostSecret[] {
  const found: LostSecret[] = [];
  mapSecrets(drawing, (value, { name, nodeId, path, label }) => {
    if (value !== MASK || isInAddress({ name }) || typeof nodeId !== 'string' || found.length >= MAX_FINDINGS)
      return value;
    const kind = isInValues({ name }) ? 'value' : name.startsWith('header:') ? 'header' : 'field';
    const isField = kind === 'field';
    found.push({ kind, nodeId, where: isField ? label : path, isLiteral: isField && !isLost(secrets, name) });
    return value;
  });
  for (const { kind, nodeId, label, path } of findPublicMasks(drawing)) {
    if (typeof nodeId !== 'string' || found.length >= MAX_FINDINGS) continue;
    const isField = kind === 'field';
    found.push({ kind, nodeId, where: isField ? label : path, isLiteral: isField });
  }
  return found;
}

/**
 * Returns the errors that prevent the run's start: lost headers and values of actions of its nodes, and lost fields of
 * its start node that `input` doesn't set.
 */
export function lostSecretErrors(
  lost: readonly LostSecret[],
  { nodeIds, startNode, input }: { nodeIds: readonly string[]; startNode: string; input: RunInput },
): NodeErrors {
  const running = new Set(nodeIds);
  const errors = new Map<string, Record<string, string>[]>();
  for (const { kind, nodeId, where, isLiteral } of lost) {
    const isMissed = nodeId === startNode && !isLiteral && isEmpty(ownValue(input, where));
    if (kind === 'field' ? !isMissed : !running.has(nodeId)) continue;
    const message = `The stored value does not belong to this ${wordOf(kind)} any more; enter it again.`;
    pushTo(errors, nodeId, { [where]: message });
  }
  return Object.fromEntries(errors);
}

export function lostSecretWarnings(lost: readonly LostSecret[]): Warning[] {
  return lost.map(({ kind, nodeId, where, isLiteral }) => {
    const fate = isLiteral ? 'and counts as not given' : 'and is not sent';
    return {
      node_id: nodeId,
      code: 'lost_secret',
      message: `The ${wordOf(kind)} ${where} has no stored value for ******** ${fate}; enter it again.`,
    };
  });
}

// Below: `********` in places that are not secret, from which it would be sent literally.

export interface PublicMask {
  kind: Kind;
  nodeId: unknown;
  /** The field's id, the header's name, or the key of the value. */
  label: string;
  /** The path inside the node's data. */
  path: string;
}

/**
 * Finds `********` in defaults of fields that are not secret, and in headers and values of actions that are not stored
 * as secrets.
 */
function findPublicMasks(drawing: JsonObject): PublicMask[] {
  const found: PublicMask[] = [];
  mapArray(drawing, 'nodes', (node) => {
    const { id: nodeId } = node;
    const { servers } = traitsOfType(node['type']);
    const inHeaders = (owner: JsonObject, path: string, isServer: boolean): JsonObject =>
      mapObject(owner, 'headers', (headers) => {
        for (const [label, value] of Object.entries(headers)) {
          if (value !== MASK || (isServer && isCredentialHeader(label))) continue;
          found.push({ kind: 'header', nodeId, label, path: `${path}headers.${label}` });
        }
        return headers;
      });
    const inValues = (owner: JsonObject, action: unknown, path: string): void => {
      const values = ownValue(owner, 'values');
      if (!isObject(action) || !isObject(values)) return;
      for (const [label, value] of Object.entries(values)) {
        if (value !== MASK || isCredentialField(action, label)) continue;
        found.push({ kind: 'value', nodeId, label, path: `${path}values.${label}` });
      }
    };
    return mapObject(node, 'data', (data) => {
      for (const list of SECRET_FIELDS) {
        mapArray(data, list, (field, index) => {
          const label = typeof field['id'] === 'string' ? field['id'] : '';
          const isMask = ownValue(field, 'default_value') === MASK && !isSecretField(field);
          if (isMask) found.push({ kind: 'field', nodeId, label, path: `${list}.${index}.default_value` });
          return field;
        });
      }
      mapArray(data, 'tools', (tool, index) => {
        inValues(tool, actionOfTool(tool), `tools.${index}.`);
        return inHeaders(tool, `tools.${index}.`, servers === 'tools');
      });
      if (servers === 'url') inValues(data, ownValue(data, 'action'), '');
      return inHeaders(data, '', servers === 'url' || servers === 'endpoint_url');
    });
  });
  return found;
}

/** Returns the public masks that the previous drawing didn't have at the same node with the same label. */
export function newPublicMasks(drawing: JsonObject, before: JsonObject): PublicMask[] {
  const known = new Set(findPublicMasks(before).map(nameOf));
  return findPublicMasks(drawing).filter((mask) => !known.has(nameOf(mask)));
}

function nameOf({ kind, nodeId, label }: PublicMask): string {
  return JSON.stringify([kind, nodeId, label]);
}
