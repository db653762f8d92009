// Every node kind, declared once. The run workflow reads these traits, so this file imports nothing: what needs a schema
// is in `nodes/<kind>.ts`. Everything that differs by kind is derived from here, or does not compile without the kind.

export interface KindTraits {
  /** The type of its Temporal activity, as operators see it. */
  activity: string;
  /**
   * `activity`: it leaves the process, in one activity. `inline`: it only reads and decides, inside the workflow task.
   * `loop`: the run workflow calls its activity again and again.
   */
  runs: 'activity' | 'inline' | 'loop';
  /**
   * The ways out of it that have a name, numbered from 1 in this order: the field of its data that holds the target, and
   * the `sourceHandle` of the edge that draws it. A kind without any is left by its `next_nodes`, handle 0.
   */
  handles: readonly { field: string; edge: string }[];
  /** Lists in its data whose items are fields that may be secret (`is_secret`, `default_value`). */
  secretFields: readonly string[];
  /** Where its data names servers, whose credential headers are secret: the data itself is one, or each of its `tools`. */
  servers: 'none' | 'self' | 'tools';
  /** Whether dense execution may place it and let it share an activity (docs/adr, "Dense execution"). */
  isDense: boolean;
}

export const kinds = {
  trigger: {
    activity: 'trigger',
    runs: 'inline',
    handles: [],
    secretFields: ['input_fields'],
    servers: 'none',
    isDense: false,
  },
  condition: {
    activity: 'condition',
    runs: 'inline',
    handles: [
      { field: 'true_node', edge: 'condition-true' },
      { field: 'false_node', edge: 'condition-false' },
    ],
    secretFields: [],
    servers: 'none',
    isDense: false,
  },
  llm: {
    activity: 'llmRequest',
    runs: 'activity',
    handles: [],
    secretFields: [],
    servers: 'none',
    isDense: false,
  },
  http: {
    activity: 'httpRequest',
    runs: 'activity',
    handles: [],
    secretFields: [],
    servers: 'none',
    isDense: true,
  },
  mcp: {
    activity: 'mcpTool',
    runs: 'activity',
    handles: [],
    secretFields: [],
    servers: 'self',
    isDense: true,
  },
  agent: {
    activity: 'agentTurn',
    runs: 'loop',
    handles: [],
    secretFields: [],
    servers: 'tools',
    isDense: false,
  },
} as const satisfies Record<string, KindTraits>;

/** The word of a kind: `graph/nodes/<kind>.ts` defines it. */
export type NodeKind = keyof typeof kinds;

/** The kinds that run in this way. */
export type KindThatRuns<How extends KindTraits['runs']> = {
  [Kind in NodeKind]: (typeof kinds)[Kind]['runs'] extends How ? Kind : never;
}[NodeKind];

export function traitsOf(kind: NodeKind): KindTraits {
  return kinds[kind];
}

/** The kinds that run in this way. */
export function kindsThatRun<How extends KindTraits['runs']>(how: How): KindThatRuns<How>[] {
  return (Object.keys(kinds) as NodeKind[]).filter((kind): kind is KindThatRuns<How> => kinds[kind].runs === how);
}
