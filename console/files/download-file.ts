import { api, ServiceError, unwrap } from '../service/api.js';
import type { FileValue } from '../service/file-value.js';

/** The browser saves the bytes as they come, from a link that is good for a minute: nothing of them is in memory. */
export async function downloadFile({ file_id: id, name }: FileValue): Promise<void> {
  const path = { file_id: id };
  try {
    const body = { expires_in: 60 };
    const { url } = await unwrap(api.POST('/api/v1/files/{file_id}/link/', { params: { path }, body }));
    // The page asks its own origin alone, whatever other names the service has.
    save(new URL(url).pathname, name);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 403) throw error;
    // A person who may only read gets no links, but the bytes.
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
