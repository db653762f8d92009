import type { Drawing } from '../../graph/drawing.js';
import { maskSecrets } from './mask-secrets.js';

/** What `Export` writes and `Import` reads: the title and the drawing, secrets as `********`. */
interface ExportedWorkflow {
  title: string;
  data: Drawing;
}

export function exportDrawing(title: string, drawing: Drawing): void {
  const exported: ExportedWorkflow = { title, data: maskSecrets(drawing) as Drawing };
  const file = new Blob([`${JSON.stringify(exported, null, 2)}\n`], { type: 'application/json' });
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = `${toFileName(title)}.json`;
  link.click();
  // The download has begun with the click.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function toFileName(title: string): string {
  const name = title.replace(/[^\p{L}\p{N} _-]+/gu, '').trim();
  return name === '' ? 'workflow' : name.slice(0, 80);
}
