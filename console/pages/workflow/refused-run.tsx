import { RunRefusedError } from '../../app/api.js';
import { explain } from '../../app/explain.js';
import { titleOfPath } from '../../forms/schema.js';
import { labelOf, nodesOf, startOf, typeOf } from '../../drawing/drawing.js';
import { useStore } from '../../drawing/editor-store.js';
import { Alert } from '../../ui/notices.js';
import { runFields } from './run-input.js';

/** Why a run was not started, by node and field. */
export function RefusedRun({ error }: { error: unknown }) {
  const { drawing, kinds } = useStore();
  const errors = error instanceof RunRefusedError ? Object.entries(error.nodeErrors) : [];
  if (errors.length === 0) return <Alert>{explain(error)}</Alert>;
  const inputs = new Map(runFields(drawing, kinds).map(({ id, title }) => [id, title]));
  const nameOf = (nodeId: string, path: string): string => {
    const node = nodesOf(drawing).get(nodeId);
    const input = nodeId === startOf(drawing) ? inputs.get(path) : undefined;
    if (input !== undefined) return input;
    return `${labelOf(node, kinds)}: ${titleOfPath(node && kinds.get(typeOf(node))?.schema, path)}`;
  };
  return (
    <Alert>
      <p>The run was not started.</p>
      <ul>
        {errors.flatMap(([nodeId, messages]) =>
          messages
            .flatMap((message) => Object.entries(message))
            .map(([path, message], at) => (
              <li key={`${nodeId} ${at}`}>
                {nameOf(nodeId, path)} – {message}
              </li>
            )),
        )}
      </ul>
    </Alert>
  );
}
