// Compares two drawings node by node, to decide which results of an earlier run can be reused: by a run that resumes
// that run (docs/use/resume.md), or by a test run (docs/use/test-runs.md).
import { writeCanonicalJson } from './json-text.js';
import { readDrawing, type DrawnNode } from './document.js';
import { withoutLooks } from './drawing-change.js';
import { isObject, type JsonObject } from './json.js';
import { traitsOf } from './kinds.js';
import { ERROR_FIELD } from './links.js';
import { rootPlan, type Plan } from './plan.js';
import { mapArray } from './secrets.js';

export interface PlannedDrawing {
  /** The drawing with its secrets. */
  drawing: JsonObject;
  plan: Plan;
}

/**
 * Returns the ids of the nodes outside bodies that have changed: their data, their incoming links or, of a loop,
 * anything in its body. A link that has changed counts only for the node that it leads to. Looks do not count.
 */
export function changedNodes(then: PlannedDrawing, now: PlannedDrawing): Set<string> {
  const before = describeNodes(then);
  return new Set([...describeNodes(now)].flatMap(([id, text]) => (before.get(id) === text ? [] : [id])));
}

/** Returns a text for each node outside bodies. Equal texts mean that the node is the same in two drawings. */
export function describeNodes({ drawing, plan }: PlannedDrawing): Map<string, string> {
  const { nodes } = withoutLooks(drawing) as { nodes: JsonObject[] };
  const contents = new Map(nodes.map((node) => [node['id'], node]));
  const drawn = new Map(readDrawing(drawing).document.nodes.map((node) => [node.id, node]));
  const contentOf = (id: string): unknown => withoutLinks(contents.get(id)!, drawn.get(id)!);
  const root = rootPlan(plan);
  const isOutside = new Set(root.ids);
  const incoming: string[][] = root.ids.map(() => []);
  for (const [from, links] of root.out.entries()) {
    for (const [to, handle] of links) incoming[to]!.push(`${handle} ${root.ids[from]}`);
  }
  const described = root.ids.map((id, number): [string, string] => {
    const body = bodyOf(plan, number).map((inner) => [contentOf(inner), drawn.get(inner)!.links]);
    const into = body.length === 0 ? [] : drawn.get(id)!.links.filter(({ to }) => !isOutside.has(to));
    return [id, writeCanonicalJson([contentOf(id), incoming[number]!.toSorted(), into, body])];
  });
  return new Map(described);
}

/** Returns the ids of the nodes in the body of a loop, including inner bodies. */
function bodyOf({ ids, bodies = {} }: Plan, loop: number): string[] {
  const body = bodies[loop];
  if (body === undefined) return [];
  const own = Array.from({ length: body.end - body.first }, (_, index) => body.first + index);
  return own.flatMap((number) => [ids[number]!, ...bodyOf({ ids, bodies } as Plan, number)]);
}

function withoutLinks(node: JsonObject, { kind }: DrawnNode): JsonObject {
  const { data } = node;
  if (!isObject(data)) return node;
  const { handles, handlesFrom } = traitsOf(kind);
  const fields = new Set<string>(['next_nodes', ERROR_FIELD, ...handles.map(({ field }) => field)]);
  const content = Object.fromEntries(Object.entries(data).filter(([field]) => !fields.has(field)));
  if (handlesFrom === undefined) return { ...node, data: content };
  const listed = mapArray(content, handlesFrom, ({ node: _target, ...item }) => item);
  return { ...node, data: listed };
}
