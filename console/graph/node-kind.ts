import type { paths } from '../../clients/typescript/src/index.js';
import type { JsonObject } from './json.js';

/** One item of `get_nodes`. Nothing else in the editor knows which kinds there are. */
export type NodeKind =
  paths['/api/v1/workflows/get_nodes/']['get']['responses']['200']['content']['application/json'][number];

export type NodeKinds = ReadonlyMap<string, NodeKind>;

/** The kinds by the `type` of the nodes in a drawing. */
export function byType(kinds: readonly NodeKind[]): NodeKinds {
  return new Map(kinds.map((kind) => [kind.type, kind]));
}

/** A kind whose data declares the fields of a run's input: what runs begin with. */
export function isStart(kind: NodeKind | undefined): boolean {
  const properties = (kind?.schema as { properties?: JsonObject } | undefined)?.properties;
  return properties !== undefined && Object.hasOwn(properties, 'input_fields');
}
