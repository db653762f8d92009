// Calls that create, replace and delete the services of a project. See docs/use/services.md.
import { api, unwrap, type components } from '../../service/api.js';
import type { Service } from '../../service/services.js';
import { formatBytes } from '../../ui/format.js';

export type StoredService = components['schemas']['StoredService'];

export interface ServiceFields {
  /** The document. If there is one, `address` is not sent. */
  file: File | undefined;
  address: string;
  /** If empty, the service gets the title of the document as its name. */
  name: string;
  /** If not empty, replaces the servers of the document. */
  serverUrl: string;
}

/** The API refuses larger documents. */
const MAX_BYTES = 20 * 1024 * 1024;

/** Returns why the fields cannot be sent; undefined if they can. */
export function problemOf({ file, address }: ServiceFields): string | undefined {
  if (file === undefined && address.trim() === '') return 'Choose a file, or enter the address of a document.';
  if (file !== undefined && file.size > MAX_BYTES) return `The file is larger than ${formatBytes(MAX_BYTES)}.`;
  return undefined;
}

/** Creates a service, or replaces the document of `of`. */
export async function storeService(
  projectId: number,
  fields: ServiceFields,
  of: Service | undefined,
): Promise<StoredService> {
  const [name, serverUrl] = [fields.name.trim(), fields.serverUrl.trim()];
  const body = {
    openapi: fields.file === undefined ? fields.address.trim() : await fields.file.text(),
    ...(name !== '' && { name }),
    ...(serverUrl !== '' && { server_url: serverUrl }),
  };
  if (of === undefined) {
    return unwrap(api.POST('/api/v1/projects/{id}/services/', { params: { path: { id: projectId } }, body }));
  }
  return unwrap(api.PUT('/api/v1/projects/{id}/services/{service_id}/', { ...at(projectId, of.id), body }));
}

/** If workflows use the service, throws a 409 that names some of them, unless `isForced`. */
export function deleteService(projectId: number, id: string, isForced: boolean): Promise<unknown> {
  const params = { ...at(projectId, id).params, ...(isForced && { query: { force: 'true' } as const }) };
  return unwrap(api.DELETE('/api/v1/projects/{id}/services/{service_id}/', { params }));
}

function at(projectId: number, serviceId: string) {
  return { params: { path: { id: projectId, service_id: serviceId } } };
}
