// What a versioned worker does once it has started: the first build of all becomes current by itself.
import { setTimeout as pause } from 'node:timers/promises';
import { countOpen, isConflict, makeCurrent, routingOf, type Deployment } from './worker-builds.js';

/** `taken`: another build is current. `unversioned`: open runs are not pinned to any build yet. */
export type FirstBuild = 'current' | 'taken' | 'unversioned';

const ASK_EVERY_MS = 1_000;

/**
 * Makes `buildId` current if no build is, and if no unversioned run of `taskQueue` is open: such a run would go on on
 * this build, which may be unable to replay it. Asks again until Temporal knows the build. Rejects when `signal` aborts.
 *
 * Two workers that start at once ask for the same; if they have different builds, one of them finds the other's.
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
