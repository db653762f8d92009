// The schedules of a workflow, which start its runs at set times. docs/use/starts.md.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { mayRun } from '../../acceptance/roles.js';
import { openScheduleInput } from '../../acceptance/schedule-input.js';
import type { Db } from '../../db/core/client.js';
import {
  deleteSchedule,
  insertSchedule,
  MOST_SCHEDULES,
  pageOfSchedules,
  updateSchedule,
  type ScheduleChange,
  type ScheduleRecord,
  type ScheduleSettings,
} from '../../db/schedules/schedules-repository.js';
import { findInputSecrets } from '../../db/workflows/secret-input-fields.js';
import { findDrawing, type StoredDrawing } from '../../db/workflows/workflows-repository.js';
import type { ScheduleDeps } from './deps.js';
import { nothing } from '../http/answer-schemas.js';
import { ApiError, notFound, orNotFound } from '../http/errors.js';
import { endTurn } from '../http/heavy-work.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { idParams, uuid } from '../http/path-ids.js';
import { routesOf, type Route } from '../http/route.js';
import { newScheduleBody, readCron, readTimeZone, scheduleChangeBody, sealInput } from './schedule-body.js';
import { projectScheduleSchema, scheduleSchema, toMaskedInput, toSchedule } from './schedule-view.js';
import { finishRemoval, syncSchedule } from './sync-schedules.js';

const defineRoute = routesOf<ScheduleDeps>();

const schedulesPath = '/api/v1/workflows/:id/schedules/';
const schedulePath = '/api/v1/workflows/:id/schedules/:schedule_id/';
const scheduleParams = idParams.extend({ schedule_id: uuid });

const list = defineRoute({
  method: 'GET',
  path: schedulesPath,
  summary: 'Lists the schedules of the workflow, oldest first.',
  access: { to: 'workflow', role: 'viewer' },
  query: z.object(pageQuery(1)),
  responses: { 200: envelopeOf(scheduleSchema) },
  async handler({ deps, params, query }) {
    const workflow = orNotFound((await findInputSecrets(deps.db, [params.id])).get(params.id));
    const { total, schedules } = await pageOfSchedules(deps.db, { workflowId: params.id }, toWindow(query));
    const items = await Promise.all(
      schedules.map((schedule) => toSchedule(deps, schedule, toMaskedInput(deps, schedule, workflow))),
    );
    return answerPage(query, total, items);
  },
});

const listOfProject = defineRoute({
  method: 'GET',
  path: '/api/v1/projects/:id/schedules/',
  summary: 'Lists the schedules of all workflows of the project, those of a workflow together, oldest first.',
  access: { to: 'project', role: 'viewer' },
  query: z.object(pageQuery(1, MOST_SCHEDULES)),
  responses: { 200: envelopeOf(projectScheduleSchema) },
  async handler({ deps, params, query }) {
    const { total, schedules } = await pageOfSchedules(deps.db, { projectId: params.id }, toWindow(query));
    const secrets = await findInputSecrets(deps.db, [...new Set(schedules.map(({ workflowId }) => workflowId))]);
    const items = await Promise.all(
      schedules.map(async (schedule) => {
        const { workflowId: id, workflowTitle: title } = schedule;
        const drawing = secrets.get(id);
        // The workflow was deleted meanwhile, and its schedules with it.
        if (drawing === undefined) return undefined;
        const input = toMaskedInput(deps, schedule, drawing);
        return { ...(await toSchedule(deps, schedule, input)), workflow: { id, title } };
      }),
    );
    return answerPage(
      query,
      total,
      items.filter((item) => item !== undefined),
    );
  },
});

const create = defineRoute({
  method: 'POST',
  path: schedulesPath,
  summary: 'Makes a schedule, which starts runs in the name of the caller.',
  description:
    'Also while the engine is away: it is told as soon as it is back, and what was missed is made up for within ' +
    '`catchup_seconds`. 400 too for an input that the workflow would refuse as it is now.',
  audit: { action: 'schedule.created', target: 'schedule', makes: 'id', commits: 'handler' },
  access: { to: 'workflow', role: 'editor' },
  readsDrawing: 'parsed',
  bodyFormat: 'exact',
  body: newScheduleBody,
  responses: { 201: scheduleSchema },
  async handler({ deps, log, caller, access, params, body, audit }) {
    const workflow = await loadDrawing(deps, params.id);
    const id = randomUUID();
    const schedule = {
      id,
      projectId: access.projectId,
      workflowId: params.id,
      authorId: caller.userId,
      cron: readCron(body.cron),
      timeZone: readTimeZone(body.time_zone),
      ...(await sealInput(deps, { workflow, scheduleId: id, body: body.input })),
      overlap: body.overlap,
      jitterSeconds: body.jitter_seconds,
      catchupSeconds: body.catchup_seconds,
      isPaused: body.is_paused,
    };
    const made = await audit.change((trx) => insertSchedule(trx, schedule), {
      keyOf: (inserted) => (typeof inserted === 'object' ? { id: inserted.id } : undefined),
    });
    if (made === 'gone') throw notFound();
    if (made === 'too_many') {
      throw new ApiError(400, 'too_many_schedules', `A workflow may have ${MOST_SCHEDULES} schedules.`);
    }
    const input = toMaskedInput(deps, made, workflow);
    // Temporal may be slow, and large work of others must not wait for it.
    endTurn();
    await syncSchedule(deps, log, made.id);
    return { status: 201, body: await toSchedule(deps, made, input) };
  },
});

const change = defineRoute({
  method: 'PATCH',
  path: schedulePath,
  summary: 'Changes, pauses or resumes a schedule; what is left out stays as it is.',
  description:
    'Whoever changes the input becomes the author, and so does whoever resumes a schedule whose author has lost ' +
    'access. `********` in a secret field of the input keeps the value.',
  audit: { action: 'schedule.changed', target: 'schedule', id: 'schedule_id', commits: 'handler' },
  access: { to: 'workflow', role: 'editor' },
  readsDrawing: 'parsed',
  params: scheduleParams,
  bodyFormat: 'exact',
  body: scheduleChangeBody,
  responses: { 200: scheduleSchema },
  async handler({ deps, log, caller, params, body, audit }) {
    const { id: workflowId, schedule_id: scheduleId } = params;
    const workflow = await loadDrawing(deps, workflowId);
    const { input: _, ...synced } = body;
    const mustSync = Object.values(synced).some((value) => value !== undefined);
    // Reads through the transaction: if concurrent changes held all connections, a second one would never become free.
    const toChange = async (stored: ScheduleRecord, db: Db): Promise<ScheduleChange> => ({
      settings: await toSettings({ ...deps, db }, { workflow, stored, body }),
      mustSync,
      authorId: body.input !== undefined || isTakenOver(stored, body) ? caller.userId : stored.authorId,
    });
    const changed = await audit.change((trx) => updateSchedule(trx, { workflowId, scheduleId }, toChange), {
      keyOf: (updated) => updated && { id: scheduleId },
    });
    if (changed === undefined) throw notFound();
    const input = toMaskedInput(deps, changed, workflow);
    endTurn();
    await syncSchedule(deps, log, scheduleId);
    return { status: 200, body: await toSchedule(deps, changed, input) };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: schedulePath,
  summary: 'Deletes a schedule. Runs that it has started go on.',
  audit: { action: 'schedule.deleted', target: 'schedule', id: 'schedule_id', commits: 'handler' },
  access: { to: 'workflow', role: 'editor' },
  params: scheduleParams,
  responses: { 204: nothing },
  async handler({ deps, log, params, audit }) {
    await audit.change(async (trx) => {
      if (!(await deleteSchedule(trx, params.id, params.schedule_id))) throw notFound();
    });
    await finishRemoval(deps, log, params.schedule_id);
    return { status: 204 };
  },
});

export const scheduleRoutes: Route<ScheduleDeps>[] = [list, listOfProject, create, change, remove];

async function loadDrawing({ db }: ScheduleDeps, workflowId: number): Promise<StoredDrawing> {
  return orNotFound(await findDrawing(db, workflowId));
}

interface Change {
  workflow: StoredDrawing;
  stored: ScheduleRecord;
  body: z.infer<typeof scheduleChangeBody>;
}

/**
 * True if the change resumes a schedule whose author may not run the workflow, or one that was paused because its
 * author had lost access.
 */
function isTakenOver({ pauseReason, authorRole }: ScheduleRecord, body: Change['body']): boolean {
  return body.is_paused === false && (pauseReason !== null || !mayRun(authorRole));
}

async function toSettings(
  deps: Pick<ScheduleDeps, 'secretBox'> & { db: Db },
  { workflow, stored, body }: Change,
): Promise<ScheduleSettings> {
  return {
    cron: body.cron === undefined ? stored.cron : readCron(body.cron),
    timeZone: body.time_zone === undefined ? stored.timeZone : readTimeZone(body.time_zone),
    ...(body.input === undefined
      ? { inputEnc: stored.inputEnc }
      : await sealInput(deps, {
          workflow,
          scheduleId: stored.id,
          body: body.input,
          stored: openScheduleInput(deps.secretBox, stored.id, stored.inputEnc),
        })),
    overlap: body.overlap ?? stored.overlap,
    jitterSeconds: body.jitter_seconds ?? stored.jitterSeconds,
    catchupSeconds: body.catchup_seconds ?? stored.catchupSeconds,
    isPaused: body.is_paused ?? stored.isPaused,
  };
}
