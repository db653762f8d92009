// Tasks that runs assign to people (docs/use/approvers.md, "Human tasks").
import { z } from 'zod';
import { anyObject } from '../../graph/any-object.js';
import { findTaskInReach, listTasksInReach } from '../../db/human-tasks/tasks-repository.js';
import { findVisible } from '../access/authorize.js';
import { detailSchema } from '../http/answer-schemas.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { uuid } from '../http/path-ids.js';
import type { HumanTaskDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { answerTask } from './answer-task.js';
import { taskSchema, toTask } from './task-view.js';

const defineRoute = routesOf<HumanTaskDeps>();

const path = '/api/v1/human-tasks/';
const taskParams = z.object({ task_id: uuid });
/** Enough for a form that a person fills in. */
const MAX_ANSWER_BYTES = 1024 * 1024;

const list = defineRoute({
  method: 'GET',
  path,
  summary: 'Lists the human tasks that the caller may answer, newest first.',
  description:
    'Over all projects that the caller belongs to. A pending task that the caller has answered, and that waits for more ' +
    'people, is not among the pending ones. `status=decided` is another word for `answered`.',
  keyScope: 'run',
  query: z.object({ ...pageQuery(1), status: z.enum(['pending', 'answered', 'expired', 'decided']).optional() }),
  responses: { 200: envelopeOf(taskSchema) },
  async handler({ deps, caller, query }) {
    const wanted = { reach: caller, status: query.status, ...toWindow(query) };
    const { total, tasks } = await listTasksInReach(deps.db, wanted);
    return answerPage(query, total, tasks.map(toTask));
  },
});

const read = defineRoute({
  method: 'GET',
  path: `${path}:task_id/`,
  summary: 'Returns one human task of a project that the caller belongs to.',
  keyScope: 'run',
  params: taskParams,
  responses: { 200: taskSchema },
  async handler({ deps, caller, params }) {
    const task = await findVisible(caller, (reach) => findTaskInReach(deps.db, params.task_id, reach));
    return { status: 200, body: toTask(task) };
  },
});

const answer = defineRoute({
  method: 'POST',
  path: `${path}:task_id/answer/`,
  summary: 'Answers a human task: the caller chooses one of its actions.',
  description:
    'Each person answers once. The task is settled when `required` people have chosen the same action. 409 with the ' +
    'code `settled`: it was settled before, its time is over, or its run has ended; with `already_answered`: the caller ' +
    'has answered. 403: the caller is not among the assignees, or has started the run and is excluded by that.',
  keyScope: 'run',
  audit: { action: 'human_task.answered', target: 'human_task', id: 'task_id', commits: 'handler' },
  params: taskParams,
  maxBodyBytes: MAX_ANSWER_BYTES,
  body: z.object({
    action: z.string().max(100),
    values: anyObject.nullish().describe('By the ids of the fields'),
    comment: z.string().max(2_000).nullish(),
  }),
  responses: { 200: taskSchema, 409: detailSchema },
  async handler({ deps, log, tenant, caller, params, body, memory, signal, audit }) {
    const sent = { action: body.action, values: body.values ?? {}, comment: body.comment ?? '' };
    const asking = { log, tenant, memory, signal, audit };
    const task = await answerTask(deps, asking, { taskId: params.task_id, reach: caller, sent });
    return { status: 200, body: toTask(task) };
  },
});

export const humanTaskRoutes: Route<HumanTaskDeps>[] = [list, read, answer];
