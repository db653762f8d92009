// Files of projects (docs/use/files.md).
import { z } from 'zod';
import { findFile, findFileFacts, listFiles } from '../../db/files/files-repository.js';
import { MissingBytesError } from '../../files/file-store.js';
import { hasOpenTask } from '../../db/human-tasks/tasks-repository.js';
import { mayRun } from '../../acceptance/roles.js';
import type { FileDeps } from './deps.js';
import { detailSchema, nothing } from '../http/answer-schemas.js';
import { ApiError, orNotFound, permissionDenied } from '../http/errors.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { uuid } from '../http/path-ids.js';
import { routesOf, type Access, type Caller, type Route } from '../http/route.js';
import { makeLink, openLink } from './file-link.js';
import { fileSchema, fileValueSchema, toFile } from './file-view.js';
import { sendFile } from './send-file.js';
import { MULTIPART_OVERHEAD_BYTES, storeUpload } from './upload.js';

const defineRoute = routesOf<FileDeps>();

const filesPath = '/api/v1/projects/:id/files/';
const filePath = '/api/v1/files/:file_id/';
const fileParams = z.object({ file_id: uuid });
const rangeHeaders = z.object({
  range: z.string().optional().describe('One range of bytes; several are answered with the whole file'),
  'if-range': z.string().optional(),
  'if-none-match': z.string().optional(),
});
const byteAnswers = {
  responses: { 200: z.string(), 206: z.string(), 304: z.null(), 403: detailSchema, 416: detailSchema },
  mediaTypes: { 200: ['application/octet-stream'], 206: ['application/octet-stream'] },
  answerHeaders: ['Accept-Ranges', 'Content-Disposition', 'Content-Range', 'ETag'],
};

const list = defineRoute({
  method: 'GET',
  path: filesPath,
  summary: 'Lists the files of the project, newest first.',
  keyScope: 'run',
  access: { to: 'project', role: 'viewer' },
  query: z.object({
    ...pageQuery(1),
    search: z.string().max(255).optional().describe('A part of the name'),
    ordering: z.enum(['size', '-size', 'created_at', '-created_at']).default('-created_at'),
  }),
  responses: { 200: envelopeOf(fileSchema) },
  async handler({ deps, params, query }) {
    const { total, files } = await listFiles(deps.db, params.id, {
      ...query,
      search: query.search,
      ...toWindow(query),
    });
    const items = files.map((file) => toFile(file, deps.config.resultRetentionDays));
    return answerPage(query, total, items);
  },
});

const upload = defineRoute({
  method: 'POST',
  path: filesPath,
  summary: 'Uploads a file: as the field `file` of multipart/form-data, or as the whole body with `X-File-Name`.',
  description:
    'The answer is the value of the file, which runs take. A file that nothing refers to is removed after a day. 413: it ' +
    'has more than `MAX_FILE_BYTES`, or the project would store more than it may. 408: no byte came for 60 seconds.',
  keyScope: 'run',
  audit: { action: 'file.uploaded', target: 'file', makes: 'file_id', commits: 'handler' },
  access: { to: 'project', role: 'viewer' },
  bodyFormat: 'stream',
  headers: z.object({
    'content-type': z.string().max(1_000).optional(),
    'x-file-name': z.string().max(8_000).optional().describe('Percent-encoded UTF-8'),
  }),
  body: z.unknown(),
  responses: { 201: fileValueSchema, 408: detailSchema },
  async handler({ deps, caller, access, headers, memory, signal, bodyStream, audit }) {
    await checkMayBring(deps, caller, access);
    const file = await storeUpload(deps.files, {
      body: bodyStream(deps.files.maxBytes + MULTIPART_OVERHEAD_BYTES),
      contentType: headers['content-type'] ?? '',
      fileName: headers['x-file-name'],
      memory,
      signal,
      of: {
        projectId: access.projectId,
        userId: caller.userId,
        recorded: (within, store) => audit.change(store, { within, keyOf: (id) => ({ id }) }),
      },
    });
    return { status: 201, body: file };
  },
});

const read = defineRoute({
  method: 'GET',
  path: filePath,
  summary: 'Returns what is known of a file, and how many refer to it.',
  keyScope: 'run',
  access: { to: 'file', role: 'viewer' },
  params: fileParams,
  responses: { 200: fileSchema },
  async handler({ deps, params }) {
    const file = orNotFound(await findFileFacts(deps.db, params.file_id));
    return { status: 200, body: toFile(file, deps.config.resultRetentionDays) };
  },
});

const content = defineRoute({
  method: 'GET',
  path: `${filePath}content/`,
  summary: 'Returns the bytes of a file, or one range of them.',
  keyScope: 'run',
  access: { to: 'file', role: 'viewer' },
  params: fileParams,
  headers: rangeHeaders,
  ...byteAnswers,
  handler: ({ deps, params, headers, signal }) => sendBytesOf(deps, params.file_id, headers, signal),
});

const link = defineRoute({
  method: 'POST',
  path: `${filePath}link/`,
  summary: 'Makes a link to the bytes, which needs no credentials and expires.',
  keyScope: 'run',
  audit: { action: 'file_link.created', target: 'file', id: 'file_id' },
  access: { to: 'file', role: 'viewer' },
  params: fileParams,
  body: z.object({ expires_in: z.int().min(10).max(86_400).default(300).describe('Seconds') }),
  responses: { 201: z.object({ url: z.url() }) },
  async handler({ deps, caller, access, params, body }) {
    await checkMayBring(deps, caller, access);
    orNotFound(await findFile(deps.db, params.file_id));
    const token = makeLink(deps.secretBox, params.file_id, body.expires_in);
    return { status: 201, body: { url: `${deps.config.publicUrl}/api/v1/file-links/${token}/` } };
  },
});

const linked = defineRoute({
  method: 'GET',
  path: '/api/v1/file-links/:token/',
  summary: 'Returns the bytes of the file to which a link leads. 403: `link_invalid` or `link_expired`.',
  auth: 'open',
  params: z.object({ token: z.string() }),
  headers: rangeHeaders,
  ...byteAnswers,
  handler: ({ deps, params, headers, signal }) =>
    sendBytesOf(deps, openLink(deps.secretBox, params.token), headers, signal),
});

const remove = defineRoute({
  method: 'DELETE',
  path: filePath,
  summary:
    'Deletes a file and its bytes. 409: a run in flight holds it. Entries of ended runs say `deleted: true` then.',
  audit: { action: 'file.deleted', target: 'file', id: 'file_id', commits: 'handler' },
  access: { to: 'file', role: 'editor' },
  params: fileParams,
  responses: { 204: nothing, 409: detailSchema },
  async handler({ deps, log, params, audit }) {
    await audit.change(async (trx) => {
      const outcome = orNotFound(await deps.files.delete(trx, params.file_id));
      if (outcome === 'in_use') throw new ApiError(409, 'file_in_use', 'A run in flight holds the file.');
    });
    // The sweep removes bytes that could not be removed here.
    await deps.files
      .removeAbandoned(REMOVED_AT_ONCE)
      .catch((err: unknown) => log.warn({ err }, 'bytes of a deleted file are not removed yet'));
    return { status: 204 };
  },
});

const REMOVED_AT_ONCE = 20;

export const fileRoutes: Route<FileDeps>[] = [list, upload, read, content, link, linked, remove];

/**
 * Throws 403 unless the caller may run workflows of the project or has an open task there: only such callers may upload
 * files and make links.
 */
async function checkMayBring(deps: FileDeps, caller: Caller, { projectId, role }: Access): Promise<void> {
  if (mayRun(role) || (await hasOpenTask(deps.db, projectId, caller.userId))) return;
  throw permissionDenied();
}

type RangeHeaders = z.infer<typeof rangeHeaders>;

/** Exported for tests. */
export async function sendBytesOf(
  deps: Pick<FileDeps, 'db' | 'files'>,
  id: string,
  headers: RangeHeaders,
  signal: AbortSignal,
) {
  const file = orNotFound(await findFile(deps.db, id));
  const asked = { range: headers.range, ifRange: headers['if-range'], ifNoneMatch: headers['if-none-match'], signal };
  return sendFile(deps.files, file, asked).catch(async (error: unknown) => {
    // The file may have been deleted after it was found. Bytes that are missing otherwise are a fault of the service.
    if (error instanceof MissingBytesError) orNotFound(await findFile(deps.db, id));
    throw error;
  });
}
