// Declares every node kind once. The run workflow reads these traits, so this file imports nothing; schemas are in
// `nodes/<kind>.ts`. Most of what differs by kind is derived from here, or doesn't compile until the kind is added; the
// rest compares kinds by name.

export interface KindTraits {
  /** The type of the kind's Temporal activity, as operators see it. */
  activity: string;
  /**
   * `activity`: the node makes requests or a model call, or runs code, in one activity. `inline`: the node only reads
   * and decides, in the activity of a preceding node or in a local activity. `loop`: the run workflow calls the kind's
   * activities repeatedly, as for an agent. `wait`: the node starts and ends inside workflow tasks, and holds no slot
   * in between. `body`: the run workflow repeats the part of the drawing that the kind's first named handle leads to,
   * as for the kind `loop`.
   */
  runs: 'activity' | 'inline' | 'loop' | 'wait' | 'body';
  /**
   * The kind's named handles, numbered from 1 in this order. `field` is the field of the node's data with the target,
   * `edge` is the `sourceHandle` of the drawn edge, and editors show `label`. A node of a kind without named handles is
   * left by its `next_nodes`, handle 0. Editors offer a handle with `when` only while the node's data has these values.
   */
  handles: readonly { field: string; edge: string; label: string; when?: Readonly<Record<string, string>> }[];
  /**
   * The field of the node's data whose items `{id, label?, node}` are further handles: `id` is the `sourceHandle` of
   * the drawn edge, and `node` is the target.
   */
  handlesFrom?: string;
  /** True if the list `handlesFrom` may be absent. A node without the list is left by its `next_nodes`. */
  isListOptional?: boolean;
  /** True if a node with named handles is also left by its `next_nodes`. */
  isLeftByNext?: boolean;
  /** The error code of a timed-out wait. The run survives the timeout if the kind's first named handle has a link. */
  timeoutCode?: string;
  /** Lists in the node's data whose items are fields that may be secret (`is_secret`, `default_value`). */
  secretFields: readonly string[];
  /**
   * The place of `headers` in the node's data: next to the address in `url`, next to that of an MCP server in
   * `endpoint_url`, or in each item of `tools` that is an MCP server. Headers that are credentials are secret.
   */
  servers: 'none' | 'url' | 'endpoint_url' | 'tools';
  /** True if an activity may walk on through the node in dense execution (docs/adr/0011-one-walk.md). */
  isDense: boolean;
}

const plain = { handles: [], secretFields: [], servers: 'none', isDense: false } as const;

export const kinds = {
  trigger: {
    ...plain,
    activity: 'trigger',
    runs: 'inline',
    secretFields: ['input_fields'],
  },
  condition: {
    ...plain,
    activity: 'condition',
    runs: 'inline',
    handles: [
      { field: 'true_node', edge: 'condition-true', label: 'True' },
      { field: 'false_node', edge: 'condition-false', label: 'False' },
    ],
  },
  llm: {
    ...plain,
    activity: 'llmRequest',
    runs: 'activity',
  },
  http: {
    ...plain,
    activity: 'httpRequest',
    runs: 'activity',
    servers: 'url',
    isDense: true,
  },
  mcp: {
    ...plain,
    activity: 'mcpTool',
    runs: 'activity',
    servers: 'endpoint_url',
    isDense: true,
  },
  agent: {
    ...plain,
    activity: 'agentTurn',
    runs: 'loop',
    servers: 'tools',
  },
  switch: {
    ...plain,
    activity: 'switch',
    runs: 'inline',
    handles: [{ field: 'default_node', edge: 'default', label: 'Otherwise' }],
    handlesFrom: 'cases',
  },
  set: {
    ...plain,
    activity: 'set',
    runs: 'inline',
  },
  wait: {
    ...plain,
    activity: 'wait',
    runs: 'wait',
    handles: [{ field: 'timeout_node', edge: 'timeout', label: 'Timed out', when: { mode: 'callback' } }],
    isLeftByNext: true,
    timeoutCode: 'wait_timeout',
  },
  output: {
    ...plain,
    activity: 'output',
    runs: 'inline',
  },
  code: {
    ...plain,
    activity: 'runCode',
    runs: 'activity',
    isDense: true,
  },
  for_each: {
    ...plain,
    activity: 'forEach',
    runs: 'body',
    handles: [{ field: 'body_node', edge: 'body', label: 'For each' }],
    isLeftByNext: true,
  },
  loop: {
    ...plain,
    activity: 'loop',
    runs: 'body',
    handles: [{ field: 'body_node', edge: 'body', label: 'Each round' }],
    isLeftByNext: true,
  },
  human: {
    ...plain,
    activity: 'humanTask',
    runs: 'wait',
    handles: [{ field: 'timeout_node', edge: 'timeout', label: 'Timed out' }],
    handlesFrom: 'actions',
    isListOptional: true,
    timeoutCode: 'human_timeout',
    secretFields: ['fields'],
  },
  workflow: {
    ...plain,
    activity: 'subWorkflow',
    runs: 'wait',
  },
} as const satisfies Record<string, KindTraits>;

export type NodeKind = keyof typeof kinds;

export type KindThatRuns<How extends KindTraits['runs']> = {
  [Kind in NodeKind]: (typeof kinds)[Kind]['runs'] extends How ? Kind : never;
}[NodeKind];

export function traitsOf(kind: NodeKind): KindTraits {
  return kinds[kind];
}

export function kindsThatRun<How extends KindTraits['runs']>(how: How): KindThatRuns<How>[] {
  return (Object.keys(kinds) as NodeKind[]).filter((kind): kind is KindThatRuns<How> => kinds[kind].runs === how);
}
