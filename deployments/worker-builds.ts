// The builds of the worker in Temporal's worker deployments: which build is current, and how many workers and open runs
// each build has (docs/operate/upgrade.md, "Versioned workers").
import { isGrpcServiceError, type Connection } from '@temporalio/client';

type WorkflowService = Connection['workflowService'];

export interface Deployment {
  workflowService: WorkflowService;
  namespace: string;
  /** The name that the workers of all builds share. */
  name: string;
}

export interface Build {
  build_id: string;
  current: boolean;
  /** The share of new runs that start on this build while another one is current, 0 to 100. */
  ramp_percent: number;
  /** Workers that have polled within the last 90 seconds. */
  workers: number;
  /** Runs that are pinned to this build and have not ended. */
  open_runs: number;
}

/**
 * Thrown for an unknown build, for one that lacks a task queue of the current build, and for a ramp to the current
 * build. The message is a sentence.
 */
export class DeploymentError extends Error {
  override name = 'DeploymentError';
}

export interface Routing {
  currentBuildId: string | undefined;
  rampingBuildId: string | undefined;
  rampPercent: number;
  /** The builds that Temporal knows, the newest first. */
  buildIds: string[];
  /** Sent with a change of the routing. Temporal refuses the change if the routing has changed since this was read. */
  conflictToken: Uint8Array;
}

/** A worker polls at least once a minute, but Temporal lists it for five minutes after its last poll. */
const WORKER_SEEN_MS = 90_000;
const NOT_FOUND = 5; // gRPC
const FAILED_PRECONDITION = 9;
const ACTIVITIES = 2; // temporal.api.enums.v1.TaskQueueType

export const isConflict = (error: unknown): boolean => codeOf(error) === FAILED_PRECONDITION;

function codeOf(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? error.code : undefined;
}

/** Returns undefined if Temporal knows no build. Temporal learns of a build from the first poll of its worker. */
export async function routingOf({ workflowService, namespace, name }: Deployment): Promise<Routing | undefined> {
  try {
    const { workerDeploymentInfo: info, conflictToken } = await workflowService.describeWorkerDeployment({
      namespace,
      deploymentName: name,
    });
    const routing = info?.routingConfig;
    return {
      currentBuildId: routing?.currentDeploymentVersion?.buildId ?? undefined,
      rampingBuildId: routing?.rampingDeploymentVersion?.buildId ?? undefined,
      rampPercent: routing?.rampingVersionPercentage ?? 0,
      buildIds: (info?.versionSummaries ?? []).flatMap(({ deploymentVersion }) => deploymentVersion?.buildId ?? []),
      conflictToken,
    };
  } catch (error) {
    if (codeOf(error) === NOT_FOUND) return undefined;
    throw error;
  }
}

/** Rejects with the gRPC error of a conflict if the routing has changed since `conflictToken` was read. */
export async function makeCurrent(
  { workflowService, namespace, name }: Deployment,
  buildId: string,
  { conflictToken }: Pick<Routing, 'conflictToken'>,
  { ignoreMissingTaskQueues = false } = {},
): Promise<void> {
  await workflowService.setWorkerDeploymentCurrentVersion({
    namespace,
    deploymentName: name,
    buildId,
    conflictToken,
    ignoreMissingTaskQueues,
  });
}

/** Counts the open runs that match `query` in Temporal's list of runs, in which a new run appears within a second. */
export async function countOpen({ workflowService, namespace }: Deployment, query: string): Promise<number> {
  const counted = await workflowService.countWorkflowExecutions({
    namespace,
    query: `ExecutionStatus = 'Running' AND ${query}`,
  });
  return Number(counted.count);
}

/** Returns the builds, the newest first. */
export async function listBuilds(deployment: Deployment): Promise<Build[]> {
  const routing = await routingOf(deployment);
  const builds: Build[] = [];
  for (const buildId of routing?.buildIds ?? []) {
    const queues = await queuesOf(deployment, buildId);
    builds.push({
      build_id: buildId,
      current: buildId === routing?.currentBuildId,
      ramp_percent: buildId === routing?.rampingBuildId ? routing.rampPercent : 0,
      workers: await countWorkers(deployment, buildId, queues),
      open_runs: await countOpen(deployment, `TemporalWorkerDeploymentVersion = '${deployment.name}:${buildId}'`),
    });
  }
  return builds;
}

/**
 * Sends all new runs to `buildId`, and ends a ramp to another build. Throws `DeploymentError` for an unknown build, and
 * for a build that lacks a task queue of the current build: nodes of the pool with this queue would wait for a worker
 * that never comes.
 */
export async function setCurrent(
  deployment: Deployment,
  buildId: string,
  { ignoreMissingPools = false } = {},
): Promise<void> {
  const routing = await routingWith(deployment, buildId, ignoreMissingPools);
  const { rampingBuildId: ramped } = routing;
  // Temporal ends a ramp by itself only if the ramped build becomes current.
  const hasOther = ramped !== undefined && ramped !== buildId && routing.rampPercent > 0;
  const changed = hasOther ? await ramp(deployment, ramped, 0, { ...routing, ignoreMissingTaskQueues: true }) : routing;
  await makeCurrent(deployment, buildId, changed, { ignoreMissingTaskQueues: ignoreMissingPools });
}

/**
 * Sends `percent` of new runs to `buildId`, and the others to the current build. Throws as `setCurrent` does, and if
 * `buildId` is the current build.
 */
export async function setRamp(
  deployment: Deployment,
  buildId: string,
  percent: number,
  { ignoreMissingPools = false } = {},
): Promise<void> {
  const { conflictToken, currentBuildId } = await routingWith(deployment, buildId, ignoreMissingPools);
  if (currentBuildId === buildId) throw new DeploymentError(`${buildId}: is current, so it already gets all new runs.`);
  await ramp(deployment, buildId, percent, { conflictToken, ignoreMissingTaskQueues: ignoreMissingPools });
}

function ramp(
  { workflowService, namespace, name }: Deployment,
  buildId: string,
  percentage: number,
  { conflictToken, ignoreMissingTaskQueues }: Pick<Routing, 'conflictToken'> & { ignoreMissingTaskQueues: boolean },
): Promise<Pick<Routing, 'conflictToken'>> {
  const ramped = { namespace, deploymentName: name, buildId, percentage };
  return workflowService.setWorkerDeploymentRampingVersion({ ...ramped, conflictToken, ignoreMissingTaskQueues });
}

async function routingWith(deployment: Deployment, buildId: string, ignoreMissing: boolean): Promise<Routing> {
  const routing = await routingOf(deployment);
  if (routing === undefined || !routing.buildIds.includes(buildId)) {
    const known = routing?.buildIds.join(', ') || 'none';
    throw new DeploymentError(`${buildId}: no worker of this build has asked for work yet (builds: ${known}).`);
  }
  const { currentBuildId } = routing;
  if (currentBuildId !== undefined && !ignoreMissing) {
    const [served, needed] = [await queuesOf(deployment, buildId), await queuesOf(deployment, currentBuildId)];
    const missing = needed.filter((queue) => !served.includes(queue));
    if (missing.length > 0) {
      throw new DeploymentError(
        `${buildId}: has no worker for ${missing.join(', ')}, which ${currentBuildId} serves (--ignore-missing-pools changes to it all the same).`,
      );
    }
  }
  return routing;
}

async function queuesOf({ workflowService, namespace, name }: Deployment, buildId: string): Promise<string[]> {
  const { versionTaskQueues } = await workflowService.describeWorkerDeploymentVersion({
    namespace,
    deploymentVersion: { deploymentName: name, buildId },
  });
  return [...new Set(versionTaskQueues.flatMap(({ name: queue }) => queue ?? []))].toSorted();
}

async function countWorkers(
  { workflowService, namespace, name }: Deployment,
  buildId: string,
  queues: string[],
): Promise<number> {
  const identities = new Set<string>();
  for (const queue of queues) {
    const { pollers } = await workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: queue },
      taskQueueType: ACTIVITIES,
    });
    for (const { identity, lastAccessTime, deploymentOptions } of pollers) {
      if (deploymentOptions?.deploymentName !== name || deploymentOptions.buildId !== buildId) continue;
      if (Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1000 <= WORKER_SEEN_MS) identities.add(identity!);
    }
  }
  return identities.size;
}
