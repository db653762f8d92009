import { z } from 'zod';
import { runPurpose } from '../http/query-values.js';
import type { HumanTask } from '../../db/human-tasks/tasks-repository.js';
import { personSchema } from '../approvals/approval-view.js';
import { fileValueSchema } from '../files/file-view.js';
import { pathSchema } from '../http/answer-schemas.js';
import { RawJson } from '../http/json-text.js';

const timestamp = z.iso.datetime();

export const taskSchema = z.object({
  id: z.string(),
  run_id: z.string(),
  path: pathSchema,
  node_id: z.string(),
  node_label: z.string(),
  workflow: z.object({ id: z.int(), title: z.string() }),
  project: z.object({ id: z.int(), name: z.string() }),
  requested_by: personSchema.describe('Who started the run'),
  status: z.enum(['pending', 'answered', 'expired']),
  message: z.string().describe('Markdown, secrets masked'),
  fields: z.array(z.record(z.string(), z.unknown())).describe('What to enter, as the input fields of a trigger'),
  files: z.array(fileValueSchema.extend({ deleted: z.literal(true).optional() })).describe('What the node shows'),
  actions: z.array(z.object({ id: z.string(), label: z.string() })),
  required: z.int().describe('How many people must choose the same action'),
  answers: z.array(
    z.object({
      answered_by: personSchema,
      action: z.string(),
      values: z.record(z.string(), z.unknown()),
      comment: z.string(),
      answered_at: timestamp,
    }),
  ),
  may_answer: z.boolean().describe('Whether the caller may answer now'),
  action: z.string().nullable().describe('The action that enough people have chosen'),
  decided_by: personSchema.nullable().describe('Whose answer settled the task'),
  decided_at: timestamp.nullable(),
  reason: z.string().describe('The comment of that answer'),
  created_at: timestamp,
  expires_at: timestamp,
  purpose: runPurpose,
});

export function toTask(task: HumanTask): Record<string, unknown> {
  const { is_assigned: isAssigned, has_answered: hasAnswered, ...shown } = task;
  return {
    ...shown,
    fields: new RawJson(task.fields),
    files: new RawJson(task.files),
    actions: new RawJson(task.actions),
    answers: new RawJson(task.answers),
    may_answer: task.status === 'pending' && isAssigned && !hasAnswered,
  };
}
