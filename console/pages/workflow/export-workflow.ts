import { api, unwrap } from '../../app/api.js';

/** Stores the workflow as a file. The service has masked its secrets. */
export async function exportWorkflow(id: number): Promise<void> {
  const exported = await unwrap(api.GET('/api/v1/workflows/{id}/export/', { params: { path: { id } } }));
  const file = new Blob([`${JSON.stringify(exported, null, 2)}\n`], { type: 'application/json' });
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = `${toFileName(exported.title)}.json`;
  link.click();
  // The download has begun with the click.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function toFileName(title: string): string {
  const name = title.replace(/[^\p{L}\p{N} _-]+/gu, '').trim();
  return name === '' ? 'workflow' : name.slice(0, 80);
}
