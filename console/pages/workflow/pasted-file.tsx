import { useMutation } from '@tanstack/react-query';
import { useReactFlow } from '@xyflow/react';
import { pasteDrawing } from '../../drawing/clipboard.js';
import { nodesOf } from '../../drawing/drawing.js';
import { useStore } from '../../drawing/editor-store.js';
import { isObject, type JsonObject } from '../../../graph/json.js';
import { api, unwrap } from '../../service/api.js';
import { explain } from '../../service/explain.js';
import { parseExact } from '../../ui/json.js';
import { Alert, announce } from '../../ui/notices.js';
import { RemarksDialog } from '../../ui/remarks.js';
import type { Saver } from './saver.js';

interface PastedFile {
  /**
   * Starts to import a pasted text. Returns false if the text is no workflow in JSON or too long, the editor is
   * read-only, or another import is running.
   */
  take: (text: string) => boolean;
  error: unknown;
  remarks: readonly { node: string | null; message: string }[] | undefined;
  close: () => void;
}

/** Pastes workflows as JSON, exported here or by n8n, onto the canvas as one step of Undo. */
export function usePastedFile(saver: Saver): PastedFile {
  const store = useStore();
  const flow = useReactFlow();
  const work = useMutation({
    mutationFn: async (file: JsonObject) => {
      const { project } = saver.getState().workflow;
      const { data, warnings } = await translate(file, project);
      const pasted = pasteDrawing(store.drawing, store.kinds, data);
      store.change(pasted.drawing, { select: pasted.keys });
      announce(`${nodesOf(data).size} nodes pasted`);
      const nodes = [...pasted.keys].map((id) => ({ id }));
      void flow.fitView({ nodes, minZoom: 0.6, maxZoom: 1, padding: 0.15 });
      return warnings;
    },
  });
  const take = (text: string): boolean => {
    const file = store.isReadOnly ? undefined : fileIn(text);
    if (file === undefined || work.isPending) return false;
    announce('Importing what was pasted');
    work.mutate(file);
    return true;
  };
  return { take, error: work.error, remarks: work.data, close: work.reset };
}

/** Shows why a pasted file was not imported, or which parts of it were not taken over. */
export function PastedFileNotices({ error, remarks, close }: PastedFile) {
  if (error !== null) {
    return (
      <div className="editor-alerts">
        <Alert>What you have pasted was not imported: {explain(error)}</Alert>
      </div>
    );
  }
  if (remarks === undefined || remarks.length === 0) return null;
  return (
    <RemarksDialog
      title="The nodes are pasted"
      lead="Not everything could be taken over as it is in the file:"
      whole="The whole file"
      warnings={remarks}
      onClose={close}
    />
  );
}

/** Longer texts are not imported. The service takes 10 MiB: ASCII text of this length fits, other text may not. */
const MAX_CHARACTERS = 10_000_000;

/** Returns the file if the text looks like a workflow. The service says what is wrong with the file. */
function fileIn(text: string): JsonObject | undefined {
  if (!/^\s*[{[]/.test(text) || text.length > MAX_CHARACTERS) return undefined;
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    return undefined;
  }
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (!isObject(only)) return undefined;
  const places = [only, only['data'], only['workflow']];
  return places.some((place) => isObject(place) && Array.isArray(place['nodes'])) ? only : undefined;
}

/** The service imports a file only as a new workflow. That workflow is deleted at once: its nodes are pasted here. */
async function translate(file: JsonObject, project: number) {
  const made = await unwrap(
    api.POST('/api/v1/projects/{id}/import/', { params: { path: { id: project } }, body: file }),
  );
  await unwrap(api.DELETE('/api/v1/workflows/{id}/', { params: { path: { id: made.id } } })).catch(() =>
    announce(`The workflow “${made.title}”, which was made for the translation, could not be deleted`),
  );
  return made;
}
