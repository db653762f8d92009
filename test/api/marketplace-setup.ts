// Setup for the tests of the catalog and the marketplace.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { chain } from '../../harness/drawing/drawing.js';
import { queryDatabase } from '../support/inspect.js';
import type { TestStack } from '../../harness/stack/stack.js';
import type { Account } from './accounts.js';
import type { Workflow } from './bodies.js';

export interface MarketplaceWorkflow {
  id: number;
  slug: string;
  market_title: string;
  copied_workflow_id: number;
  total_users_count: number;
  total_runs_count: number;
  marketplace_price_avg: Record<string, string>;
  last_run_at: string | null;
  [field: string]: unknown;
}

export interface Published {
  projectId: number;
  workflowId: number;
  /** The run that is marked as the marketplace template. */
  runId: string;
  slug: string;
}

/** A word that no other test's titles contain. */
export function uniqueWord(): string {
  return `w${randomUUID().replaceAll('-', '')}`;
}

export async function createCategory(stack: TestStack, parent: number | null = null): Promise<number> {
  const text = 'INSERT INTO categories (name, parent_id) VALUES ($1, $2) RETURNING id';
  return (await queryDatabase<{ id: number }>(stack, text, ['category', parent]))[0]!.id;
}

/**
 * Sets a marketplace flag of a run. A workflow has one template run, so `use_as_marketplace_template` is first cleared
 * for all its runs.
 */
export async function markRun(
  stack: TestStack,
  runId: string,
  flag: 'use_as_marketplace_template' | 'use_in_marketplace_example',
  value = true,
): Promise<void> {
  if (flag === 'use_as_marketplace_template') {
    const others =
      'UPDATE runs SET use_as_marketplace_template = false WHERE workflow_id = (SELECT workflow_id FROM runs WHERE id = $1)';
    await queryDatabase(stack, others, [runId]);
  }
  await queryDatabase(stack, `UPDATE runs SET ${flag} = $2 WHERE id = $1`, [runId, value]);
}

/**
 * Runs the drawing, marks the run as template, and publishes the workflow. `fields` override the marketplace fields.
 */
export async function publish(
  stack: TestStack,
  { api }: Account,
  fields: Record<string, unknown> = {},
  data: object = chain(1),
  input: unknown = {},
): Promise<Published> {
  const { projectId, workflowId, runId, status } = await api.runToEnd(data, input);
  assert.equal(status, 'succeed');
  const required = { market_title: uniqueWord(), short_description: 'short', available_languages: ['en'] };
  const patched = await api.patch(`/workflows/${workflowId}/`, { body: { ...required, ...fields } });
  assert.equal(patched.status, 200);
  await markRun(stack, runId, 'use_as_marketplace_template');
  const { status: outcome, body } = await api.post<Workflow>(`/workflows/${workflowId}/publish-on-marketplace/`);
  assert.equal(outcome, 200, JSON.stringify(body));
  return { projectId, workflowId, runId, slug: body['slug'] as string };
}

/** Copies the workflow. Returns the id of the account's copy. */
export async function copy({ api }: Account, slug: string): Promise<number> {
  const { status, body } = await api.post<Workflow>(`/workflows/marketplace/${slug}/add-from-marketplace/`);
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}
