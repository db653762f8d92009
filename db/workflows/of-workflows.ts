import { sql, type RawBuilder } from 'kysely';

export type OfWorkflows = { projectId: number } | { workflowId: number };

/** A condition on rows of `workflows`. */
export function isAmong(of: OfWorkflows): RawBuilder<boolean> {
  return 'projectId' in of
    ? sql`workflows.project_id = ${of.projectId} AND workflows.archived_at IS NULL`
    : sql`workflows.id = ${of.workflowId}`;
}

/** A condition on `workflow_id`. */
export function isOf(of: OfWorkflows): RawBuilder<boolean> {
  return 'projectId' in of
    ? sql`workflow_id IN (SELECT id FROM workflows WHERE project_id = ${of.projectId})`
    : sql`workflow_id = ${of.workflowId}`;
}
