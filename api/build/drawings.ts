// Reads drawings for the tools (the version that is asked for, else the user's draft, else the stored drawing), and
// checks drawings.
import { z } from 'zod';
import { cutText } from '../../graph/cut-text.js';
import type { JsonObject } from '../../graph/json.js';
import { ApiError } from '../http/errors.js';
import type { ToolContext } from './tool.js';

export interface ReadDrawing {
  id: number;
  title: string;
  project: number;
  /** The version that is read, or the present one where `drawing` is the draft. */
  version: number;
  drawing: JsonObject;
  /** Null if the user has no draft or may not have one, or if a version was asked for. */
  draft: { etag: string; baseVersion: number } | null;
}

/** Reads the stored version if `version` is passed, else the user's draft or, without a draft, the present version. */
export async function readDrawing({ calls }: ToolContext, id: number, version?: number): Promise<ReadDrawing> {
  const params = { id: String(id) };
  const { body, memory } = await calls.call('GET /api/v1/workflows/:id/', { params });
  const { title, project, version: present, data } = body as Record<'title' | 'data', unknown> & StoredFields;
  const facts = { id, title: String(title), project, version: present };
  if (version !== undefined && version !== present) {
    const place = { params: { ...params, version: String(version) } };
    const earlier = await calls.json<{ data: JsonObject }>('GET /api/v1/workflows/:id/versions/:version/', place);
    return { ...facts, version, drawing: earlier.data, draft: null };
  }
  const draft = version === undefined ? await findDraft(calls, params) : undefined;
  if (draft !== undefined) return { ...facts, ...draft };
  const drawing = await calls.read<JsonObject>({ body: data, memory, status: 200, headers: {} });
  return { ...facts, drawing, draft: null };
}

interface StoredFields {
  project: number;
  version: number;
}

async function findDraft(
  calls: ToolContext['calls'],
  params: Record<string, string>,
): Promise<Pick<ReadDrawing, 'drawing' | 'draft'> | undefined> {
  try {
    const answer = await calls.call('GET /api/v1/workflows/:id/draft/', { params });
    const { data, base_version: baseVersion } = await calls.read<{ data: JsonObject; base_version: number }>(answer);
    return { drawing: data, draft: { etag: answer.headers['ETag']!, baseVersion } };
  } catch (error) {
    // A user who may not edit the workflow has no draft and gets 403.
    if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return undefined;
    throw error;
  }
}

const MOST_LISTED = 20;

const finding = z.object({ node_id: z.string().nullable(), path: z.string().optional(), message: z.string() });

export const checkSchema = z.object({
  is_valid: z.boolean(),
  error_count: z.int(),
  errors: z.array(finding),
  warning_count: z.int(),
  warnings: z.array(finding.extend({ code: z.string() })),
});

export type ShownCheck = z.infer<typeof checkSchema>;

interface Check {
  is_valid: boolean;
  errors: ShownCheck['errors'];
  warnings: ShownCheck['warnings'];
}

/** Checks a drawing of the workflow. With `isDraft`, `********` in it stands for a value of the draft. */
export async function checkDrawing(
  { calls }: ToolContext,
  { id, drawing, isDraft }: { id: number; drawing: JsonObject; isDraft: boolean },
): Promise<ShownCheck> {
  const { is_valid, errors, warnings } = await calls.json<Check>('POST /api/v1/workflows/:id/check_workflow/', {
    params: { id: String(id) },
    body: { drawing, ...(isDraft && { from_draft: true }) },
  });
  return {
    is_valid,
    error_count: errors.length,
    errors: errors.slice(0, MOST_LISTED).map(({ node_id, path, message }) => toFinding({ node_id, path, message })),
    warning_count: warnings.length,
    warnings: warnings.slice(0, MOST_LISTED).map(({ code, ...found }) => ({ code, ...toFinding(found) })),
  };
}

const MOST_CHARACTERS = 300;

function toFinding({ node_id, path, message }: ShownCheck['errors'][number]): ShownCheck['errors'][number] {
  const cut = cutText(message, MOST_CHARACTERS);
  return { node_id, ...(path !== undefined && path !== '' && { path: cutText(path, MOST_CHARACTERS) }), message: cut };
}

export function editorUrl({ deps }: ToolContext, id: number): string {
  return `${deps.config.publicUrl}/workflows/${id}`;
}
