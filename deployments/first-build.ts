// Makes the first build of the worker current without an operator. Each versioned worker tries this after its start.
import { setTimeout as pause } from 'node:timers/promises';
import { countOpen, isConflict, makeCurrent, routingOf, type Deployment } from './worker-builds.js';

/** `taken`: another build is current. `unversioned`: open runs are not pinned to any build yet. */
export type FirstBuild = 'current' | 'taken' | 'unversioned';

const ASK_EVERY_MS = 1_000;

/**
 * Makes `buildId` current if no build is current and no unversioned run of `taskQueue` is open. An open unversioned run
 * would continue on this build, which may be unable to replay it. Repeats its query until Temporal knows the build.
 * Rejects when `signal` aborts.
 *
 * If two workers with different builds start at once, one of them finds that the other build is current (`taken`).
 */
export async function becomeFirst(
  deployment: Deployment,
  { buildId, taskQueue, signal }: { buildId: string; taskQueue: string; signal: AbortSignal },
): Promise<FirstBuild> {
  for (;;) {
    const routing = await routingOf(deployment);
    if (routing?.currentBuildId === buildId) return 'current';
    if (routing?.currentBuildId !== undefined) return 'taken';
    if (routing?.buildIds.includes(buildId) === true) {
      const open = await countOpen(
        deployment,
        `TaskQueue = '${taskQueue.replaceAll("'", "''")}' AND TemporalWorkerDeploymentVersion IS NULL`,
      );
      if (open > 0) return 'unversioned';
      try {
        await makeCurrent(deployment, buildId, routing);
        return 'current';
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
    await pause(ASK_EVERY_MS, undefined, { signal });
  }
}
