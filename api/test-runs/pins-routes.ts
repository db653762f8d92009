// Pins of a workflow: results that tests use instead of executing a node (docs/use/test-runs.md, "Pins").
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { anyObject } from '../../graph/any-object.js';
import { openDrawing } from '../../acceptance/opened-drawing.js';
import { openResult } from '../../db/nodes/open-result.js';
import { findEarlierRun } from '../../db/resume/resume-repository.js';
import { findResultToPin } from '../../db/test-runs/run-results-repository.js';
import {
  deletePin,
  findPin,
  listPins,
  measurePins,
  storePin,
  type NewPin,
  type Pin,
} from '../../db/test-runs/pins-repository.js';
import { findDrawing, type StoredDrawing } from '../../db/workflows/workflows-repository.js';
import { compilePlan } from '../../graph/compile-plan.js';
import type { FixedOutcome } from '../../graph/fixed-outcome.js';
import { createMasker } from '../../graph/mask.js';
import { parseJson } from '../../graph/json-text.js';
import { secretTexts, type SecretMap } from '../../graph/secrets.js';
import type { NodeOutput } from '../../graph/template.js';
import { PARSED_COPIES } from '../../memory/json-copies.js';
import type { TestDeps } from './deps.js';
import { badRequestSchema, nothing } from '../http/answer-schemas.js';
import { ApiError, invalidFields, orNotFound } from '../http/errors.js';
import { idParams, iterationPath, nodeId, uuid } from '../http/path-ids.js';
import { routesOf, type Route } from '../http/route.js';
import { secretsOfRun } from '../runs/resume/drawings.js';
import { fingerprintsOf } from './fingerprints.js';
import { readOutcome } from './read-outcome.js';

const defineRoute = routesOf<TestDeps>();

const MOST_BYTES = 1024 * 1024;
/** Each pin is read in two forms: the outcome as tests use it, and the masked outcome that answers show. */
const PIN_COPIES = 2 * PARSED_COPIES;

const pinSchema = z
  .object({
    node_id: z.string(),
    path: z.string(),
    result: z.record(z.string(), z.unknown()).nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    source_run: z.string().nullable(),
    is_stale: z.boolean().describe('Whether the node, or something before it, has changed since'),
    updated_at: z.iso.datetime(),
    updated_by: z.object({ id: z.int(), name: z.string() }),
  })
  .meta({ id: 'Pin' });

const place = { params: idParams.extend({ node_id: nodeId }), query: z.object({ path: iterationPath.default('') }) };

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/:id/pins/',
  summary: 'Lists the pins of a workflow.',
  readsDrawing: 'parsed',
  access: { to: 'workflow', role: 'viewer' },
  responses: { 200: z.array(pinSchema) },
  async handler({ deps, params, memory }) {
    const workflow = orNotFound(await findDrawing(deps.db, params.id));
    await memory.resize(memory.bytes + PIN_COPIES * (await measurePins(deps.db, params.id)));
    const pins = await listPins(deps.db, deps.secretBox, workflow.id);
    const { fingerprints } = open(deps, workflow);
    return { status: 200, body: pins.map((pin) => toView(pin, fingerprints)) };
  },
});

const put = defineRoute({
  method: 'PUT',
  path: '/api/v1/workflows/:id/pins/:node_id/',
  summary: 'Pins a result to a node: tests take it in place of executing the node.',
  description:
    'No other run reads a pin. Its secrets are masked as in results. A pin has at most 1 MiB, and all pins of a workflow 8 MiB.',
  readsDrawing: 'parsed',
  audit: { action: 'pin.changed', target: 'pin', id: 'node_id', within: 'id' },
  access: { to: 'workflow', role: 'editor' },
  ...place,
  body: z.union([
    z.strictObject({ result: anyObject }),
    z.strictObject({ error: z.object({ code: z.string(), message: z.string().optional() }) }),
    z.strictObject({ from_run: uuid, path: iterationPath.optional() }),
  ]),
  responses: { 200: pinSchema, 400: badRequestSchema },
  async handler({ deps, caller, params, query, body }) {
    const workflow = orNotFound(await findDrawing(deps.db, params.id));
    const path = 'path' in body && body.path !== undefined ? body.path : query.path;
    const pinned = await toPin(deps, workflow, params.node_id, path, body);
    if (Buffer.byteLength(JSON.stringify(pinned.outcome)) > MOST_BYTES) {
      throw new ApiError(413, 'too_large', 'A pin has at most 1 MiB.');
    }
    const at = { workflowId: params.id, nodeId: params.node_id, path };
    const isStored = await storePin(deps.db, deps.secretBox, {
      ...pinned,
      ...at,
      sourceRun: 'from_run' in body ? body.from_run : null,
      userId: caller.userId,
    });
    if (!isStored) throw new ApiError(413, 'too_large', 'The pins of a workflow have at most 8 MiB together.');
    const stored = orNotFound(await findPin(deps.db, deps.secretBox, at));
    return { status: 200, body: toView(stored, open(deps, workflow).fingerprints) };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/api/v1/workflows/:id/pins/:node_id/',
  summary: 'Removes a pin.',
  audit: { action: 'pin.deleted', target: 'pin', id: 'node_id', within: 'id' },
  access: { to: 'workflow', role: 'editor' },
  ...place,
  responses: { 204: nothing },
  async handler({ deps, params, query }) {
    const wasThere = await deletePin(deps.db, { workflowId: params.id, nodeId: params.node_id, path: query.path });
    orNotFound(wasThere || undefined);
    return { status: 204 };
  },
});

export const pinRoutes: Route<TestDeps>[] = [list, put, remove];

interface OpenedWorkflow {
  secrets: SecretMap;
  /** Undefined if the drawing cannot be compiled. */
  fingerprints: ReadonlyMap<string, string> | undefined;
  drawing: Record<string, unknown>;
}

function open({ secretBox }: TestDeps, workflow: StoredDrawing): OpenedWorkflow {
  const { drawing, secrets } = openDrawing(secretBox, workflow);
  const compiled = compilePlan(drawing);
  return { secrets, drawing, fingerprints: compiled.ok ? fingerprintsOf({ drawing, plan: compiled.plan }) : undefined };
}

function toView(
  { nodeId: id, path, shown, fingerprint, sourceRun, updatedAt, userId, userName }: Pin,
  fingerprints: ReadonlyMap<string, string> | undefined,
): z.infer<typeof pinSchema> {
  return {
    node_id: id,
    path,
    result: 'output' in shown ? shown.output : null,
    error: 'error' in shown ? shown.error : null,
    source_run: sourceRun,
    is_stale: fingerprint !== null && fingerprints?.get(id) !== fingerprint,
    updated_at: updatedAt.toISOString(),
    updated_by: { id: userId, name: userName },
  };
}

type PinBody =
  | { result: Record<string, unknown> }
  | { error: { code: string; message?: string | undefined } }
  | { from_run: string };

async function toPin(deps: TestDeps, workflow: StoredDrawing, id: string, path: string, body: PinBody) {
  const { secrets, fingerprints, drawing } = open(deps, workflow);
  const fingerprint = fingerprints?.get(id) ?? null;
  if ('from_run' in body) {
    const ofNode = await ofRun(deps, workflow, { runId: body.from_run, path, nodeId: id });
    return { ...ofNode, fingerprint };
  }
  const outcome = await readBody(deps, workflow.project_id, { drawing, id, body });
  const secretsThen = secretTexts(secrets);
  const shown = createMasker(secretsThen).json(outcome);
  return { outcome, shown, fingerprint, ...(!isDeepStrictEqual(shown, outcome) && { secretsThen }) };
}

/**
 * A pin may belong to a node that is not saved yet, or whose saved drawing cannot be compiled. The kind and the handles
 * of such a node are unknown, so its result is read like that of a set node.
 */
async function readBody(
  { db }: TestDeps,
  projectId: number,
  { drawing, id, body }: { drawing: Record<string, unknown>; id: string; body: Exclude<PinBody, { from_run: string }> },
): Promise<FixedOutcome> {
  const compiled = compilePlan(drawing);
  const node = compiled.ok ? compiled.document.nodes.find((drawn) => drawn.id === id) : undefined;
  const sent = 'result' in body ? body.result : body;
  const outcome = await readOutcome(db, projectId, node ?? { kind: 'set', data: {} }, sent);
  if (typeof outcome === 'string') throw invalidFields({ ['result' in body ? 'result' : 'error']: [outcome] });
  return outcome;
}

async function ofRun(
  { db, secretBox, config }: TestDeps,
  workflow: StoredDrawing,
  key: { runId: string; path: string; nodeId: string },
): Promise<Pick<NewPin, 'outcome' | 'shown' | 'secretsThen'>> {
  const found = await findResultToPin(db, workflow.id, key, {
    retentionDays: config.resultRetentionDays,
    limitBytes: MOST_BYTES,
  });
  if (found === undefined) throw invalidFields({ from_run: ['The run has no result of this node in this iteration.'] });
  if (found.isLarge) throw new ApiError(413, 'too_large', 'A pin has at most 1 MiB.');
  if (found.status === 'failed') {
    const error = { code: found.errorCode ?? 'failed', message: found.errorMessage ?? '' };
    return { outcome: { error }, shown: { error } };
  }
  const handles = [found.handle, ...(found.alsoHandles ?? [])];
  const read = (text: string | null): NodeOutput => parseJson(text ?? '{"content":""}') as NodeOutput;
  const earlier =
    found.resultEnc === null ? undefined : await findEarlierRun(db, key.runId, config.resultRetentionDays);
  return {
    outcome: { output: read(openResult(found, key, secretBox)), handles },
    shown: { output: read(found.result), handles },
    ...(earlier && { secretsThen: secretsOfRun(secretBox, earlier) }),
  };
}
