// Exports workflows as files, and imports such files and those of n8n (docs/use/porting.md).
import { z } from 'zod';
import { openSecrets } from '../../acceptance/opened-drawing.js';
import type { Database } from '../../db/core/client.js';
import { reserveId } from '../../db/core/reserve-id.js';
import { findCallable } from '../../db/workflows/called-workflows.js';
import { createWorkflow, findDrawing, findWorkflow } from '../../db/workflows/workflows-repository.js';
import { EXPORT_FORMAT, labelOf, maskForExport } from '../../graph/exported-drawing.js';
import { MAX_IMPORT_WARNINGS, type ImportWarning } from '../../n8n/n8n-file.js';
import type { WorkflowDeps } from './deps.js';
import { collectedBytes } from '../http/collect-body.js';
import { notFound, orNotFound } from '../http/errors.js';
import { RawJson } from '../http/json-text.js';
import { routesOf, type Caller, type Route } from '../http/route.js';
import { TEXT_COPIES } from '../../memory/json-copies.js';
import { callsIn } from './call-warnings.js';
import { sealDrawing } from './drawing-secrets.js';
import { importBody, readImport, type ImportedFile } from './import-body.js';
import { toImportWarnings } from './import-remarks.js';
import { mostAddedBytes, resolveActions } from '../services/resolve-actions.js';
import { exportedServiceSchema, exportServices, importServices } from './ported-services.js';
import { translateApart } from './translate-apart.js';
import { exportConnections, exportedConnectionSchema, importConnections } from './ported-connections.js';
import { drawingSchema, importWarnings, toEtag, toWorkflow, workflowSchema } from './workflow-view.js';

const defineRoute = routesOf<WorkflowDeps>();

const exportSchema = z.object({
  format: z.literal(EXPORT_FORMAT),
  title: z.string(),
  description: z.string(),
  data: drawingSchema,
  workflows: z
    .array(z.object({ id: z.int(), title: z.string() }))
    .describe('The workflows that the drawing runs: an import warns where the project has another one with the id'),
  connections: z
    .array(exportedConnectionSchema)
    .describe('The connections that the drawing names, without what they contain'),
  services: z.array(exportedServiceSchema).describe('The services of the project whose actions the drawing names'),
});

const exportRoute = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/:id/export/',
  summary: 'Returns the workflow as a file, with ******** for secrets and credential headers of every node.',
  description: 'A credential header whose value is nothing but variables stays as it is.',
  readsDrawing: 'parsed',
  answerHeaders: ['Content-Disposition'],
  access: { to: 'workflow', role: 'viewer' },
  responses: { 200: exportSchema },
  async handler({ deps, caller, params }) {
    const workflow = await findWorkflow(deps.db, params.id, caller);
    const stored = await findDrawing(deps.db, params.id);
    if (workflow === undefined || stored === undefined) throw notFound();
    const masked = maskForExport(stored.document, openSecrets(deps.secretBox, stored));
    const connected = await exportConnections(deps.db, workflow.project_id, masked);
    const { connections } = connected;
    const { drawing: data, services } = await exportServices(deps.db, workflow.project_id, connected.drawing);
    const called = await findCallable(
      deps.db,
      workflow.project_id,
      callsIn(data).map((call) => call.called),
    );
    const body = {
      format: EXPORT_FORMAT,
      title: workflow.title,
      description: workflow.short_description,
      data: new RawJson(JSON.stringify(data)),
      workflows: [...called].map(([id, title]) => ({ id, title })),
      connections,
      services,
    };
    return { status: 200, body, headers: { 'Content-Disposition': toAttachment(workflow.title, 'json') } };
  },
});

const importRoute = defineRoute({
  method: 'POST',
  path: '/api/v1/projects/:id/import/',
  summary: 'Makes a workflow of a file: one that was exported here, or one of n8n.',
  description:
    'Secrets begin empty. Of a file of n8n, nodes with an equivalent here are translated, and each of the others becomes a note ' +
    'beside the nodes (`data.notes`). `warnings` lists what was left out or has to be filled in.',
  audit: { action: 'workflow.imported', target: 'workflow', makes: 'id', commits: 'handler' },
  answerHeaders: ['ETag'],
  access: { to: 'project', role: 'editor' },
  body: importBody,
  responses: {
    201: workflowSchema.extend({
      warnings: importWarnings,
    }),
  },
  async handler({ deps, caller, params, body, audit, memory, tenant, signal }) {
    const sizeBytes = collectedBytes(memory);
    const inTurn = <T>(work: () => Promise<T> | T): Promise<T> =>
      deps.heavyWork.run({ tenant, projectId: params.id, signal }, sizeBytes, work);
    const importing = { processes: deps.processes, userId: caller.userId, memory, signal, inTurn };
    const file = await readImport(body, { translate: (foreign) => translateApart(foreign, importing), inTurn });
    await memory.resize(memory.bytes + TEXT_COPIES * mostAddedBytes(file.data));
    const store = (db: Database) => storeImport({ ...deps, db }, file, { projectId: params.id, caller });
    const { workflow, warnings } = await inTurn(() =>
      audit.change(store, { keyOf: (stored) => ({ id: stored.workflow.id, projectId: params.id }) }),
    );
    return { status: 201, body: { ...toWorkflow(workflow), warnings }, headers: { ETag: toEtag(workflow) } };
  },
});

async function storeImport(
  deps: Pick<WorkflowDeps, 'db' | 'secretBox'>,
  file: ImportedFile,
  { projectId, caller }: { projectId: number; caller: Caller },
) {
  const id = await reserveId(deps.db, 'workflows');
  const place = { id, project_id: projectId };
  const connected = await importConnections(deps.db, projectId, file.data, file.connections);
  const served = await importServices(deps.db, projectId, connected.drawing, file.services);
  const drawing = await resolveActions(deps.db, projectId, served.drawing);
  const { document, secrets_enc: secretsEnc } = sealDrawing(deps.secretBox, place, drawing);
  const workflowId = await createWorkflow(deps.db, {
    id,
    projectId,
    authorId: caller.userId,
    title: file.title,
    shortDescription: file.description,
    document,
    secretsEnc,
  });
  const workflow = orNotFound(workflowId === undefined ? undefined : await findWorkflow(deps.db, workflowId, caller));
  const calls = await warnOfCalls(deps, projectId, file);
  const found = [...file.warnings, ...connected.warnings, ...served.warnings, ...calls];
  const warnings = found.slice(0, MAX_IMPORT_WARNINGS);
  return { workflow, warnings: toImportWarnings(warnings) };
}

export const portingRoutes: Route<WorkflowDeps>[] = [exportRoute, importRoute];

/** An id of another project may be that of a different workflow here, so the titles are compared, too. */
async function warnOfCalls(
  { db }: Pick<WorkflowDeps, 'db'>,
  projectId: number,
  file: ImportedFile,
): Promise<ImportWarning[]> {
  const calls = callsIn(file.data);
  const callable = await findCallable(
    db,
    projectId,
    calls.map(({ called }) => called),
  );
  return calls.flatMap(({ node, called }) => {
    const here = callable.get(called);
    const there = file.calledTitles.get(called);
    const named = there === undefined ? '' : `, "${there}"`;
    if (here === undefined) {
      const message = `Choose the workflow that it runs: this project has no workflow ${called}${named}.`;
      return { node: labelOf(node), message };
    }
    if (there === undefined || here === there) return [];
    const message = `Check the workflow that it runs: the id ${called} is that of "${here}" here, and was that of "${there}".`;
    return { node: labelOf(node), message };
  });
}

// Below: the name under which a browser stores an exported file.

const MAX_NAME = 80;

/**
 * Returns the header of an answer that is stored as a file. Old clients get the name in ASCII, others in UTF-8 (RFC
 * 6266). A title cannot name a path or a hidden file, nor end the header.
 */
function toAttachment(title: string, ending: string): string {
  const name = toFileName(title);
  const ascii = name.replace(/[^A-Za-z0-9 _-]+/g, '').trim();
  const encoded = encodeURIComponent(`${name}.${ending}`);
  return `attachment; filename="${ascii === '' ? 'workflow' : ascii}.${ending}"; filename*=UTF-8''${encoded}`;
}

function toFileName(title: string): string {
  const plain = Array.from(
    title
      .replace(/[^\p{L}\p{N} _-]+/gu, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
  const name = plain.slice(0, MAX_NAME).join('').trim();
  return name === '' ? 'workflow' : name;
}
