// The builds of the worker as Temporal's worker deployments know them: which one is current, and what each still has
// to do (docs/operate/upgrade.md, "Versioned workers").
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
  /** Workers that have asked for work within the last minutes. */
  workers: number;
  /** Runs that are pinned to this build and have not ended. */
  open_runs: number;
}

/** A build that does not exist, or lacks what the current one has. The message is shown as one sentence. */
export class DeploymentError extends Error {
  override name = 'DeploymentError';
}

export interface Routing {
  currentBuildId: string | undefined;
  rampingBuildId: string | undefined;
  rampPercent: number;
  /** The builds that have ever had a worker, the newest first. */
  buildIds: string[];
  /** Refuses a change if another one came first. */
  conflictToken: Uint8Array;
}

/** A worker asks again at least each minute, and Temporal lists it for five. */
const WORKER_SEEN_MS = 90_000;
const NOT_FOUND = 5; // gRPC
const FAILED_PRECONDITION = 9;
const ACTIVITIES = 2; // temporal.api.enums.v1.TaskQueueType

export const isConflict = (error: unknown): boolean => codeOf(error) === FAILED_PRECONDITION;

function codeOf(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? error.code : undefined;
}

/** Returns undefined while Temporal knows no build: it learns of one by its worker's first request for work. */
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

/** Rejects with the gRPC error of a conflict if the routing has changed since `routing` was read. */
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

/** Counts the open runs of `query`, as Temporal's list of runs knows them: it learns of a new run within a second. */
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
 * Sends all new runs to `buildId`. Throws `DeploymentError` for an unknown build, and for one that lacks a task queue
 * of the current one: nodes of that pool would wait for a worker that never comes.
 */
export async function setCurrent(
  deployment: Deployment,
  buildId: string,
  { ignoreMissingPools = false } = {},
): Promise<void> {
  const routing = await routingWith(deployment, buildId, ignoreMissingPools);
  await makeCurrent(deployment, buildId, routing, { ignoreMissingTaskQueues: ignoreMissingPools });
}

/** Sends `percent` of new runs to `buildId`, and the others to the current one. Throws as `setCurrent` does. */
export async function setRamp(
  deployment: Deployment,
  buildId: string,
  percent: number,
  { ignoreMissingPools = false } = {},
): Promise<void> {
  const { workflowService, namespace, name } = deployment;
  const { conflictToken, currentBuildId } = await routingWith(deployment, buildId, ignoreMissingPools);
  if (currentBuildId === buildId) throw new DeploymentError(`${buildId}: is current, so it already gets all new runs.`);
  await workflowService.setWorkerDeploymentRampingVersion({
    namespace,
    deploymentName: name,
    buildId,
    percentage: percent,
    conflictToken,
    ignoreMissingTaskQueues: ignoreMissingPools,
  });
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
