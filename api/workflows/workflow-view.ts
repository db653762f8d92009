import { z } from 'zod';
import { Decimal } from 'decimal.js';
import type { MemberWorkflow } from '../../db/workflows/workflows-repository.js';
import { RawJson } from '../http/json-text.js';
import { mayAct } from '../../acceptance/roles.js';
import type { RouteResult } from '../http/route.js';
import { roleSchema } from '../projects/project-view.js';

/** The visual editor defines drawings, so unknown keys pass unchanged. */
export const drawingSchema = z.record(z.string(), z.unknown());

/** The parts that an import or a copy has left out or changed, or that a person has to check or fill in. */
export const importWarnings = z.array(
  z.object({
    node: z.string().nullable().describe('The name of the node; null: the whole file'),
    message: z.string(),
  }),
);

export const workflowSchema = z
  .object({
    id: z.int(),
    project: z.int(),
    title: z.string(),
    tags: z.array(z.string()).describe('At most 10, in the order in which they were given'),
    data: drawingSchema,
    version: z.int().describe('Of the drawing, from 1; rises with each change of what it runs'),
    sort_id: z.int(),
    author: z.int(),
    market_title: z.string(),
    short_description: z.string(),
    available_languages: z.array(z.string()),
    readme_guide: z.string(),
    categories: z.array(z.int()),
    subcategories: z.array(z.int()),
    run_fee: z.string(),
    free_runs_per_user: z.int(),
    max_run_cost: z.string().nullable().describe('USD, of a run with the runs below it; null: no limit'),
    is_published: z.boolean(),
    slug: z.string().nullable(),
    is_tool: z.boolean().describe('Whether `/mcp` offers it as a tool to everybody who may run it'),
    is_chat: z.boolean().describe('Whether it has conversations, and is a model of `/v1/chat/completions`'),
    copied_from: z.int().nullable(),
    can_edit: z.boolean(),
    role: roleSchema,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Workflow' });

/**
 * A workflow as listed. `data` is absent, not `{}`, if the drawing is too large: a client would send `{}` back in an
 * update and so overwrite the drawing.
 */
export const listedWorkflowSchema = workflowSchema.extend({
  data: drawingSchema.optional().describe('Absent where it is too large for a list; the single read has it'),
  truncated: z.literal(true).optional().describe('data is left out'),
});

/** A workflow as its members see it. `data` contains no secrets. */
export function toWorkflow(
  workflow: MemberWorkflow,
): Omit<z.infer<typeof listedWorkflowSchema>, 'data'> & { data?: RawJson } {
  const { document_text: document } = workflow;
  return {
    id: workflow.id,
    project: workflow.project_id,
    title: workflow.title,
    tags: workflow.tags,
    ...(document === null ? { truncated: true } : { data: new RawJson(document) }),
    version: workflow.version,
    sort_id: workflow.sort_id,
    author: workflow.author_id,
    market_title: workflow.market_title,
    short_description: workflow.short_description,
    available_languages: workflow.available_languages,
    readme_guide: workflow.readme_guide,
    categories: workflow.category_ids,
    subcategories: workflow.subcategory_ids,
    run_fee: new Decimal(workflow.run_fee_usd).toFixed(),
    free_runs_per_user: workflow.free_runs_per_user,
    max_run_cost: workflow.max_run_cost_usd === null ? null : new Decimal(workflow.max_run_cost_usd).toFixed(),
    is_published: workflow.is_published,
    slug: workflow.slug,
    is_tool: workflow.is_tool,
    is_chat: workflow.is_chat,
    copied_from: workflow.copied_from,
    can_edit: mayAct(workflow.role, 'editor'),
    role: workflow.role,
    created_at: workflow.created_at.toISOString(),
    updated_at: workflow.updated_at.toISOString(),
  };
}

/** Returns the tag of a workflow. The tag changes with each change of the workflow except one of its position. */
export function toEtag({ id, revision }: { id: number; revision: number }): string {
  return `"${id}.${revision}"`;
}

/**
 * The workflow with its tag, from the same read: the tag of another state would let its holder overwrite that state
 * unseen.
 */
export function toWorkflowAnswer(workflow: MemberWorkflow): RouteResult {
  return { status: 200, body: toWorkflow(workflow), headers: { ETag: toEtag(workflow) } };
}
