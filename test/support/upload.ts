// Uploads and downloads of files by clients of the API.
import assert from 'node:assert/strict';
import type { TestStack } from '../../harness/stack/stack.js';

export interface FileValue {
  file_id: string;
  name: string;
  type: string;
  size: number;
  sha256: string;
}

interface Sent {
  method?: string;
  body?: string | Uint8Array | FormData;
  headers?: Record<string, string>;
}

export function createFileClient({ apiUrl, apiKey }: Pick<TestStack, 'apiUrl' | 'apiKey'>) {
  /** Paths are below `/api/v1`. */
  const send = (at: string, { headers, ...init }: Sent = {}): Promise<Response> =>
    fetch(`${apiUrl}/api/v1${at}`, { ...init, headers: { 'X-API-Key': apiKey, ...headers } });
  return {
    send,
    async upload(projectId: number, bytes: Uint8Array | string, name = 'a.txt', type = 'text/plain') {
      const form = new FormData();
      form.append('file', new Blob([bytes], { type }), name);
      const response = await send(`/projects/${projectId}/files/`, { method: 'POST', body: form });
      assert.equal(response.status, 201, await response.clone().text());
      return (await response.json()) as FileValue;
    },
    async bytesOf(id: string, headers: Record<string, string> = {}): Promise<[number, Buffer, Headers]> {
      const response = await send(`/files/${id}/content/`, { headers });
      return [response.status, Buffer.from(await response.arrayBuffer()), response.headers];
    },
  };
}
