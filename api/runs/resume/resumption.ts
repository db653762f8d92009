// Plans a resumption: which nodes the new run executes, and which results it reuses. Stores nothing.
import {
  findOpenRunBelow,
  findUnknownOutcomes,
  haveUnknownOutcomes,
} from '../../../db/resume/resume-checks-repository.js';
import { findDrawing, type StoredDrawing } from '../../../db/workflows/workflows-repository.js';
import {
  findEarlierRun,
  findStartedRuns,
  type EarlierRun,
  type ReusedResults,
  type StartedRun,
} from '../../../db/resume/resume-repository.js';
import { changedNodes } from '../../../graph/changed-nodes.js';
import { rootPlan, type Plan } from '../../../graph/plan.js';
import type { RunDeps } from '../deps.js';
import { ApiError, notFound } from '../../http/errors.js';
import type { Envelope } from '../../envelope/run-envelope.js';
import { refusePurpose } from '../run-of-purpose.js';
import { asItIsNow, asItWas, drawingThen, type Drawn } from './drawings.js';
import { isRepeated, ReusedScopes } from './reused-scopes.js';

export interface ResumeRequest {
  workflow: StoredDrawing;
  runId: string;
  userId: number;
  /** The nodes that are executed again, together with all that follow them. */
  from: string[];
  /** True to execute the present drawing, false for the earlier run's drawing. */
  isAsNow: boolean;
  acceptsUnknown: boolean;
}

interface ResumedChild {
  nodeId: string;
  child: string | Resumption;
  isAwaited: boolean;
}

export interface Resumption extends Drawn {
  earlierId: string;
  reused: ReusedResults;
  /**
   * False if no node is left to execute, such as for an earlier run that was stopped after its last node. The request
   * is then refused; for the run of a sub-workflow, the run that resumes it executes nothing and only ends.
   */
  isSomethingLeft: boolean;
  /** Sub-workflow nodes that continue with the run that they have started, or with a run that resumes it. */
  children: ResumedChild[];
}

type PlannedResumption = { resumption: Resumption } | { refusal: Envelope };

export async function planResumption(deps: RunDeps, request: ResumeRequest): Promise<PlannedResumption> {
  const { workflow, runId, from } = request;
  const earlier = await findEarlierRun(deps.db, runId, deps.config.resultRetentionDays);
  if (earlier?.workflowId !== workflow.id) throw notFound();
  refuse(earlier);
  // Checked first, so that no awaited run below is still open while its nodes are read.
  const open = await findOpenRunBelow(deps.db, runId);
  if (open !== undefined) {
    throw new ApiError(400, 'run_open', `The run ${open}, which a node has started, is open.`);
  }
  checkNodes(from, earlier.plan);
  const planned = await planFrom(deps, request, earlier);
  if ('resumption' in planned && !planned.resumption.isSomethingLeft) {
    throw new ApiError(400, 'nothing_left', 'Nothing is left to do: every node has its result.');
  }
  return planned;
}

async function planFrom(deps: RunDeps, request: ResumeRequest, earlier: EarlierRun): Promise<PlannedResumption> {
  const { workflow, runId, from, isAsNow } = request;
  const drawn = isAsNow
    ? await asItIsNow(deps, workflow, earlier, request.userId)
    : asItWas(deps, workflow, earlier, request.userId);
  if ('refusal' in drawn) return drawn;
  const { run } = drawn;
  if (isAsNow) checkNodes(from, run.plan);
  const anew = new Set(from);
  if (isAsNow) for (const id of changedNodes(drawingThen(deps.secretBox, earlier), run)) anew.add(id);
  const scopes = await ReusedScopes.plan(deps.db, runId, run.plan, (id) => anew.has(id));
  const children = await findChildren(deps, request, scopes);
  const { reused, isSomethingLeft } = scopes;
  return { resumption: { earlierId: runId, ...drawn, reused, children, isSomethingLeft } };
}

function refuse({ status, purpose, isExpired }: EarlierRun): void {
  if (purpose !== 'run') throw refusePurpose(purpose, 'resumed');
  if (status === 'In Progress') {
    throw new ApiError(400, 'run_open', 'The run is open: only a run that has ended can be resumed.');
  }
  if (status === 'Draft') {
    throw new ApiError(400, 'run_refused', 'The run was refused before it began, so nothing of it can be resumed.');
  }
  if (isExpired) throw new ApiError(400, 'run_expired', 'The results of this run have expired.');
}

function checkNodes(ids: string[], plan: Plan): void {
  const outside = new Set(rootPlan(plan).ids);
  const id = ids.find((nodeId) => !outside.has(nodeId));
  if (id === undefined) return;
  const reason = plan.ids.includes(id) ? 'is inside a body' : 'is not a node of the run';
  throw new ApiError(400, 'unknown_node', `from: the node "${id}" ${reason}.`);
}

/**
 * Returns the runs of sub-workflows that the new run continues with. Throws if a call with an unknown outcome would be
 * repeated, in this run or in the runs below it, unless the request accepts that.
 */
async function findChildren(
  deps: RunDeps,
  request: ResumeRequest,
  scopes: ReusedScopes,
): Promise<Resumption['children']> {
  const { db } = deps;
  const { runId, acceptsUnknown } = request;
  const children: Resumption['children'] = [];
  const startedAnew: string[] = [];
  for (const { childId, isOfSubWorkflow, isAwaited, ...place } of await findStartedRuns(db, runId)) {
    const fate = scopes.fateOf(place);
    if (!isRepeated(fate)) continue;
    const mayGoOn = fate === 'continued' && place.path === '' && isOfSubWorkflow;
    const child = mayGoOn ? await findChild(deps, request, { childId, isAwaited }) : undefined;
    if (child === undefined) startedAnew.push(childId);
    else children.push({ nodeId: place.nodeId, child, isAwaited });
  }
  if (acceptsUnknown) return children;
  const isUnknown = (await findUnknownOutcomes(db, runId)).some((place) => isRepeated(scopes.fateOf(place)));
  if (isUnknown || (await haveUnknownOutcomes(db, startedAnew))) throw outcomeUnknown();
  return children;
}

function outcomeUnknown(): ApiError {
  const detail =
    'Nobody knows what a call of a node that would be repeated has done (outcome_unknown). Repeat it with accept_unknown.';
  return new ApiError(400, 'outcome_unknown', detail);
}

/**
 * Returns the id of the child run if the node keeps it, because the child run has succeeded or the node does not wait
 * for it. Else returns the resumption of the child run. Undefined if the node must start another run: the child run has
 * expired, its workflow is not in the project any more, or the present drawing of that workflow cannot run.
 */
async function findChild(
  deps: RunDeps,
  request: ResumeRequest,
  { childId, isAwaited }: Pick<StartedRun, 'childId' | 'isAwaited'>,
): Promise<string | Resumption | undefined> {
  if (!isAwaited) return childId;
  const child = await findEarlierRun(deps.db, childId, deps.config.resultRetentionDays);
  const workflow = child && (await findDrawing(deps.db, child.workflowId));
  if (child === undefined || child.isExpired || workflow?.project_id !== request.workflow.project_id) return undefined;
  if (child.status === 'Succeeded') return childId;
  const planned = await planFrom(deps, { ...request, workflow, runId: childId, from: [] }, child);
  return 'resumption' in planned ? planned.resumption : undefined;
}
