import { useMutation } from '@tanstack/react-query';
import { startRun } from '../../../clients/typescript/src/index.js';
import { api, RunRefusedError } from '../../service/api.js';
import { explain } from '../../service/explain.js';
import { useRunKey, submitHandler } from '../../service/queries.js';
import { useStored } from '../../ui/store.js';
import { labelOf, nodesOf, startOf, typeOf } from '../../drawing/drawing.js';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { toProblemWords } from '../../forms/problem-words.js';
import { titleOfPath } from '../../forms/schema.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Alert, announce, Note } from '../../ui/notices.js';
import { useTests } from './test-run/use-tests.js';
import { useRunInput } from '../../parts/run-input/run-input-form.js';
import { runFields } from '../../parts/run-input/run-input.js';
import type { Saver } from './saver.js';

/** Asks for the input, saves the drawing, and starts a run that the editor follows. */
export function RunDialog({ saver, onClose }: { saver: Saver; onClose: () => void }) {
  const store = useStore();
  const { kinds } = store;
  const tests = useTests();
  const drawing = useEditor(({ history }) => history.present);
  const isDirty = useEditor((state) => state.isDirty);
  const isEmpty = nodesOf(drawing).size === 0;
  const projectId = useStored(saver, (state) => state.workflow.project);
  const { input, form } = useRunInput({ fields: runFields(drawing, kinds), projectId });
  const { keyOf, settleIfRefused } = useRunKey();
  const start = useMutation({
    mutationFn: async () => {
      const isSaved = await saver.save();
      const { workflow, etag, error } = saver.getState();
      if (error !== undefined) throw error;
      if (!isSaved) return;
      const runId = await startRun(api, workflow.id, input, { idempotencyKey: keyOf([input, etag]) });
      announce('The run has started.');
      tests.startRun({ runId, drawing: store.getState().saved });
      onClose();
    },
    onError: settleIfRefused,
  });
  return (
    <Dialog title="Run workflow" holdsText onClose={onClose}>
      <form id="run-form" className="node-form" onSubmit={submitHandler(start)}>
        {isEmpty && <Note>There is nothing to run yet. Begin with one of the starters, or add a trigger.</Note>}
        {isDirty && !isEmpty && <Note>Your unsaved changes are saved first.</Note>}
        {form}
        {start.error !== null && <RefusedRun error={start.error} />}
        <Button type="submit" variant="primary" isBusy={start.isPending} disabled={input === undefined || isEmpty}>
          Start run
        </Button>
      </form>
    </Dialog>
  );
}

/** Lists why the run was refused, by node and field. */
function RefusedRun({ error }: { error: unknown }) {
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
  const wordsOf = (nodeId: string, path: string, message: string): string => {
    const node = nodesOf(drawing).get(nodeId);
    return toProblemWords(node && kinds.get(typeOf(node))?.schema, path, message);
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
                {nameOf(nodeId, path)} – {wordsOf(nodeId, path, message)}
              </li>
            )),
        )}
      </ul>
    </Alert>
  );
}
