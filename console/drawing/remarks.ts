// Remarks that an import has left in the drawing (`remarks`): what a person still has to do. Runs ignore them.
import { isObject, ownValue } from '../../graph/json.js';
import { asArray, asText } from '../ui/json.js';
import { nodesOf, type Drawing } from './drawing.js';
import type { Problem, RemarkFix } from './problem.js';

/** Returns the remarks as problems, without the remarks on deleted nodes. */
export function remarkProblems(drawing: Drawing): Problem[] {
  return asArray(drawing['remarks']).flatMap((remark): Problem[] => {
    if (!isObject(remark)) return [];
    const [id, message, nodeId] = [asText(remark['id']), asText(remark['message']), asText(remark['node_id']) ?? null];
    if (id === undefined || message === undefined || (nodeId !== null && !nodesOf(drawing).has(nodeId))) return [];
    const fix = fixOf(remark['fix']);
    const path = fix !== undefined && 'field' in fix ? fix.field : '';
    return [{ nodeId, path, message, severity: 'warning', remark: { id, fix } }];
  });
}

export function withoutRemark(drawing: Drawing, id: string): Drawing {
  const remarks = asArray(drawing['remarks']).filter((remark) => !isObject(remark) || remark['id'] !== id);
  if (remarks.length > 0) return { ...drawing, remarks };
  const { remarks: _, ...rest } = drawing;
  return rest;
}

function fixOf(fix: unknown): RemarkFix | undefined {
  if (!isObject(fix)) return undefined;
  const [field, schedule] = [asText(ownValue(fix, 'field')), asText(ownValue(fix, 'schedule'))];
  if (field !== undefined) return { field };
  if (schedule !== undefined) return { schedule };
  return ownValue(fix, 'hook') === true ? { hook: true } : undefined;
}
