import { api, ServiceError, unwrap } from '../service/api.js';
import type { FileValue } from '../service/file-value.js';

/**
 * Downloads a file. The browser streams it to disk from a link that is valid for a minute, so the bytes never
 * fill the memory.
 */
export async function downloadFile({ file_id: id, name }: FileValue): Promise<void> {
  const path = { file_id: id };
  try {
    const body = { expires_in: 60 };
    const { url } = await unwrap(api.POST('/api/v1/files/{file_id}/link/', { params: { path }, body }));
    // Uses the page's own origin, because the link may contain another host name of the service.
    save(new URL(url).pathname, name);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 403) throw error;
    // Viewers get no links, but may read the bytes.
    const options = { params: { path }, parseAs: 'blob' } as const;
    const url = URL.createObjectURL(await unwrap(api.GET('/api/v1/files/{file_id}/content/', options)));
    save(url, name);
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }
}

function save(url: string, name: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}
