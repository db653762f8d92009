// The suite of each test file. A pattern is a file, or a folder with a slash at its end.

export type TierName = keyof typeof TIERS;

export interface Round {
  title: string;
  files: string[];
  env?: Record<string, string>;
}

const RANDOM_DRAWINGS = 'test/temporal-workflows/random-drawings.test.ts';

/** The files of each suite. A file that no pattern matches is in `quick`, the suite of `npm test`. */
export const TIERS = {
  quick: [],
  /** Tests that kill or freeze processes, continue the runs of another build, or wait for real time limits. */
  durability: [
    'test/activities/kinds/code/sandbox-process.test.ts',
    'test/api/background/reconciler.test.ts',
    'test/api/chat/chat-crash.test.ts',
    'test/api/conversations/conversations-crash.test.ts',
    'test/api/files/files.test.ts',
    'test/api/streams/deltas-durability.test.ts',
    'test/api/streams/event-stream.test.ts',
    'test/api/streams/withdrawn-readers.test.ts',
    'test/api/http/process.test.ts',
    'test/api/runs/conditional-poll.test.ts',
    'test/api/schedules/firings.test.ts',
    'test/api/webhooks/webhook-crashes.test.ts',
    'test/drills/upgrade-open-runs.test.ts',
    'test/faults/invariants.test.ts',
    'test/temporal-workflows/agent-durability.test.ts',
    'test/temporal-workflows/crash.test.ts',
    'test/temporal-workflows/files-crash.test.ts',
    'test/temporal-workflows/frozen-worker.test.ts',
    'test/temporal-workflows/loops-replayed.test.ts',
    'test/temporal-workflows/mcp-crash.test.ts',
    'test/temporal-workflows/pools.test.ts',
    'test/temporal-workflows/resume-durability.test.ts',
    'test/temporal-workflows/wait-durability.test.ts',
    'test/temporal-workflows/walk-in-a-row.test.ts',
    'test/temporal-workflows/walk-side-by-side.test.ts',
    'test/temporal-workflows/worker-shutdown.test.ts',
  ],
  /**
   * Load tests, long drills, tests that change keys and settings, and tests that repeat at another place a guarantee of
   * the suites above.
   */
  long: [
    'test/api/build/large-drawings.test.ts',
    'test/activities/kinds/code/hostile-code.test.ts',
    'test/activities/kinds/code/sandbox.test.ts',
    'test/activities/kinds/structured-answer.test.ts',
    'test/activities/worker/traces.test.ts',
    'test/api/access/jwks.test.ts',
    'test/api/background/two-processes.test.ts',
    'test/api/chat/chat-limits.test.ts',
    'test/api/files/hostile-uploads.test.ts',
    'test/api/hooks/hooks-durability.test.ts',
    'test/api/mcp-client/private-network.test.ts',
    'test/api/projects/quota.test.ts',
    'test/api/runs/live-poll.test.ts',
    'test/api/schedules/clocks-of-all-zones.test.ts',
    'test/api/schedules/long-firings.test.ts',
    'test/api/schedules/schedules-durability.test.ts',
    'test/api/sessions/brute-force.test.ts',
    'test/api/sessions/oidc.test.ts',
    'test/api/sessions/throttle.test.ts',
    'test/api/mcp-server/mcp-crowds.test.ts',
    'test/api/webhooks/webhook-delivery.test.ts',
    'test/api/workflows/hostile-drawings.test.ts',
    'test/cli/admin-connections.test.ts',
    'test/cli/npm-signals.test.ts',
    'test/cli/samples.test.ts',
    'test/cli/secrets-rotation.test.ts',
    'test/cli/start-refusals.test.ts',
    'test/cli/start.test.ts',
    'test/db/agents/approval-lists.test.ts',
    'test/db/projects/stored-bytes.test.ts',
    'test/db/retention/retention.test.ts',
    'test/db/runs/runs-list-plans.test.ts',
    'test/db/workflows/list-plans.test.ts',
    'test/n8n/node-tests/node-tests.test.ts',
    'test/deploy/metrics.test.ts',
    'test/drills/migrate-in-flight.test.ts',
    'test/drills/database-away.test.ts',
    'test/drills/restore.test.ts',
    'test/drills/temporal-away.test.ts',
    'test/examples/tasks.test.ts',
    'test/faults/hosts.test.ts',
    'test/faults/matrix.test.ts',
    'test/load/',
    'test/n8n/runs.test.ts',
    'test/processes/documents-hostile.test.ts',
    'test/processes/processes.test.ts',
    'test/temporal-workflows/canaries.test.ts',
    'test/temporal-workflows/code-crash.test.ts',
    'test/temporal-workflows/connection-canaries.test.ts',
    'test/temporal-workflows/consistency.test.ts',
    'test/files/s3-store.test.ts',
    'test/files/sweep-drill.test.ts',
    'test/temporal-workflows/connection-crash.test.ts',
    'test/temporal-workflows/connection-waits.test.ts',
    'test/temporal-workflows/test-runs-crash.test.ts',
    'test/temporal-workflows/files-in-code-limits.test.ts',
    'test/temporal-workflows/loops-over-executions.test.ts',
    'test/temporal-workflows/many-waits.test.ts',
    'test/temporal-workflows/payload-encryption.test.ts',
    'test/temporal-workflows/project-fairness.test.ts',
    'test/temporal-workflows/scale.test.ts',
    'test/temporal-workflows/spending-limits.test.ts',
    'test/temporal-workflows/sub-workflow-durability.test.ts',
    'test/temporal-workflows/worker-versions.test.ts',
  ],
  /** The pages of the console, in a browser. */
  pages: [
    'test/api/http/docs-page.test.ts',
    'test/console/agent-tools.test.ts',
    'test/console/assistant.test.ts',
    'test/console/audit.test.ts',
    'test/console/canvas-hands.test.ts',
    'test/console/canvas.test.ts',
    'test/console/cases.test.ts',
    'test/console/chat-preview.test.ts',
    'test/console/chat.test.ts',
    'test/console/combined-conditions.test.ts',
    'test/console/connections.test.ts',
    'test/console/costs.test.ts',
    'test/console/drafts.test.ts',
    'test/console/editor-runs.test.ts',
    'test/console/editor.test.ts',
    'test/console/files.test.ts',
    'test/console/forms.test.ts',
    'test/console/gallery.test.ts',
    'test/console/go-to.test.ts',
    'test/console/hooks.test.ts',
    'test/console/import.test.ts',
    'test/console/inbox.test.ts',
    'test/console/large-drawing.test.ts',
    'test/console/limits.test.ts',
    'test/console/loop-frames.test.ts',
    'test/console/marketplace.test.ts',
    'test/console/node-forms.test.ts',
    'test/console/node-view.test.ts',
    'test/console/pools.test.ts',
    'test/console/resume.test.ts',
    'test/console/run-live.test.ts',
    'test/console/run-loops.test.ts',
    'test/console/run-states.test.ts',
    'test/console/run-words.test.ts',
    'test/console/run.test.ts',
    'test/console/runs.test.ts',
    'test/console/schedules.test.ts',
    'test/console/services.test.ts',
    'test/console/serving.test.ts',
    'test/console/settings.test.ts',
    'test/console/shell.test.ts',
    'test/console/sign-in.test.ts',
    'test/console/sub-workflows.test.ts',
    'test/console/ten-minutes.test.ts',
    'test/console/test-runs.test.ts',
    'test/console/tool.test.ts',
    'test/console/versions.test.ts',
    'test/console/walk.test.ts',
    'test/console/workflow-list.test.ts',
    'test/console/workflows.test.ts',
  ],
  /** The commands in the documents and examples, executed exactly as written. */
  docs: [
    'test/docs/',
    'test/examples/gallery.test.ts',
    'test/examples/python.test.ts',
    'test/examples/samples.test.ts',
    'test/deploy/operators.test.ts',
  ],
  /** The shipped parts: images, services, the client as a package, commands. */
  packaging: [
    'test/bench/bench.test.ts',
    'test/cli/admin-users.test.ts',
    'test/cli/admin.test.ts',
    'test/cli/demo.test.ts',
    'test/cli/replay.test.ts',
    'test/clients/chat-clients.test.ts',
    'test/clients/typescript-package.test.ts',
    'test/packaging/',
  ],
  fuzz: ['test/api/fuzz.test.ts'],
} as const satisfies Record<string, string[]>;

/** These files start first, so that none of the longest files still runs when all others have ended. */
export const LONG = [
  'test/api/fuzz.test.ts',
  'test/api/background/reconciler.test.ts',
  'test/api/streams/event-stream.test.ts',
  'test/api/role-matrix.test.ts',
  'test/api/runs/conditional-poll.test.ts',
  'test/api/runs/history.test.ts',
  'test/api/runs/live-poll.test.ts',
  'test/api/runs/re-run.test.ts',
  'test/api/schedules/firings.test.ts',
  'test/api/webhooks/webhook-crashes.test.ts',
  'test/api/webhooks/webhook-delivery.test.ts',
  'test/cli/start.test.ts',
  'test/console/sign-in.test.ts',
  'test/deploy/metrics.test.ts',
  'test/docs/contributing.test.ts',
  'test/docs/documents.test.ts',
  'test/docs/operating.test.ts',
  'test/docs/usage.test.ts',
  'test/drills/',
  'test/graph/mask.test.ts',
  'test/load/waiting-runs.test.ts',
  'test/outgoing/blocked-addresses.test.ts',
  'test/temporal-workflows/agent-durability.test.ts',
  'test/temporal-workflows/code-crash.test.ts',
  'test/temporal-workflows/walk-in-a-row.test.ts',
  'test/temporal-workflows/walk-side-by-side.test.ts',
  'test/temporal-workflows/loops-over-executions.test.ts',
  'test/temporal-workflows/many-waits.test.ts',
  'test/temporal-workflows/payload-encryption.test.ts',
  'test/temporal-workflows/random-drawings.test.ts',
  'test/temporal-workflows/replay.test.ts',
  'test/temporal-workflows/resume-durability.test.ts',
  'test/temporal-workflows/scale.test.ts',
  'test/temporal-workflows/wait-durability.test.ts',
  'test/temporal-workflows/worker-versions.test.ts',
];

/**
 * No other file runs while one of these runs. They measure short times, load the whole machine, count rows or log lines
 * that other tests write too, or lock whole tables.
 */
export const ALONE = [
  'test/activities/kinds/code/hostile-code.test.ts',
  'test/api/http/raw-http.test.ts',
  'test/api/sessions/brute-force.test.ts',
  'test/bench/counted-costs.test.ts',
  'test/console/large-drawing.test.ts',
  'test/db/runs/snapshots.test.ts',
  'test/load/deltas.test.ts',
  'test/load/live-readers.test.ts',
  'test/outgoing/mcp-call.test.ts',
  'test/temporal-workflows/project-fairness.test.ts',
  'test/temporal-workflows/run-graph.test.ts',
];

/**
 * The files of each group run one after the other, in one lane. The first group starts first: its files compute for
 * many seconds, and meanwhile a model provider in their process could not answer the calls of other lanes. They must
 * end before their lane starts a model provider. The files of the second group delete all old rows, so each would
 * delete rows that the others need.
 */
export const GROUPS = [
  [RANDOM_DRAWINGS, 'test/temporal-workflows/planner.test.ts'],
  [
    'test/api/background/retention.test.ts',
    'test/db/retention/retention.test.ts',
    'test/db/sessions/session-retention.test.ts',
  ],
];

/**
 * With the workers' cache off, every step of a run replays all steps before it. These tests are left out of that round,
 * each for one of these reasons:
 * - They execute no run on a worker.
 * - They kill workers, which empties the cache anyway, or move runs between builds.
 * - Their chain of 2,000 nodes would take quadratic time.
 * - They wait most of the time.
 * - They replay histories themselves, or use dense execution, whose histories are replayed in any case.
 * - They check only contents, such as secrets in results.
 */
const NOT_WITHOUT_CACHE = [
  'agent-durability',
  'bundle',
  'cached-workflows',
  'cancel',
  'canaries',
  'code',
  'code-crash',
  'connection-canaries',
  'connection-crash',
  'test-runs-crash',
  'crash',
  'frozen-worker',
  'loops-over-executions',
  'loops-replayed',
  'many-waits',
  'mcp-crash',
  'mcp-secrets',
  'payload-encryption',
  'planner',
  'project-fairness',
  'random-drawings',
  'replay',
  'resume-durability',
  'scale',
  'scheduled-run',
  'secrets',
  'spending-limits',
  'sub-workflow-durability',
  'values',
  'visible',
  'wait-durability',
  'walk-in-a-row',
  'walk-side-by-side',
  'worker-shutdown',
  'worker-versions',
].map((name) => `test/temporal-workflows/${name}.test.ts`);

export function matches(file: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => (pattern.endsWith('/') ? file.startsWith(pattern) : file === pattern));
}

/** The suites whose patterns match the file; `quick` if none does. */
export function tiersOf(file: string): TierName[] {
  const named = (Object.keys(TIERS) as TierName[]).filter((tier) => matches(file, TIERS[tier]));
  return named.length === 0 ? ['quick'] : named;
}

export function roundsOf(tier: TierName, files: string[]): Round[] {
  const own = files.filter((file) => tiersOf(file).includes(tier));
  if (tier !== 'long') return [{ title: `The suite ${tier}`, files: own }];
  const onWorkers = files.filter((file) => matches(file, ['test/temporal-workflows/']));
  return [
    { title: 'Loads and drills', files: own },
    { title: 'Many random drawings', files: [RANDOM_DRAWINGS], env: { RANDOM_DRAWINGS: '20000' } },
    {
      title: 'The run workflow with the cache of workflows off',
      files: onWorkers.filter((file) => !matches(file, NOT_WITHOUT_CACHE)),
      env: { WORKER_CACHED_WORKFLOWS: '0' },
    },
  ];
}
