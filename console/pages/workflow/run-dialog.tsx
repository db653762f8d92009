import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { startRun } from '../../../clients/typescript/src/index.js';
import { api, RunRefusedError } from '../../app/api.js';
import { explain } from '../../app/explain.js';
import { useRunKey, submits } from '../../app/queries.js';
import { labelOf, nodesOf, startOf, typeOf } from '../../drawing/drawing.js';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { parseExact } from '../../drawing/json.js';
import { titleOfPath } from '../../forms/schema.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { CheckboxField, TextField } from '../../ui/fields.js';
import { Alert, Note } from '../../ui/notices.js';
import { RunFieldControl } from './run-field.js';
import { runFields, toInput, type RunField } from './run-input.js';
import type { Saver } from './saver.js';

export function RunDialog({ saver, onClose }: { saver: Saver; onClose: () => void }) {
  const { kinds } = useStore();
  const drawing = useEditor(({ history }) => history.present);
  const isDirty = useEditor((state) => state.isDirty);
  const [, navigate] = useLocation();
  const fields = runFields(drawing, kinds);
  const [values, setValues] = useState<ReadonlyMap<string, string>>(new Map());
  const [json, setJson] = useState<string>();
  const { keyOf, settleIfRefused } = useRunKey();
  const input = json === undefined ? toInput(fields, values) : parse(json);
  const start = useMutation({
    mutationFn: async () => {
      const isSaved = await saver.save();
      const { workflow, etag, error } = saver.getState();
      if (error !== undefined) throw error;
      if (!isSaved) return;
      const runId = await startRun(api, workflow.id, input, { idempotencyKey: keyOf([input, etag]) });
      onClose();
      navigate(`/runs/${runId}`);
    },
    onError: settleIfRefused,
  });
  return (
    <Dialog title="Run workflow" holdsText onClose={onClose}>
      <form id="run-form" className="node-form" onSubmit={submits(start)}>
        {isDirty && <Note>Your unsaved changes are saved first.</Note>}
        {json === undefined ? (
          <Fields fields={fields} values={values} onChange={setValues} />
        ) : (
          <TextField
            label="Input as JSON"
            rows={8}
            value={json}
            onChange={setJson}
            spellCheck={false}
            onKeyDown={(event) => {
              const isMeant = event.key === 'Enter' && (event.ctrlKey || event.metaKey);
              if (isMeant && input !== undefined && !start.isPending) start.mutate();
            }}
            error={input === undefined ? 'This is no JSON yet.' : undefined}
          />
        )}
        <CheckboxField
          label="Write the input as JSON"
          isChecked={json !== undefined}
          onChange={(isJson) => setJson(isJson ? JSON.stringify(toInput(fields, values), null, 2) : undefined)}
        />
        {start.error !== null && <RefusedRun error={start.error} />}
        <Button type="submit" variant="primary" isBusy={start.isPending} disabled={input === undefined}>
          Start run
        </Button>
      </form>
    </Dialog>
  );
}

interface FieldsProps {
  fields: readonly RunField[];
  values: ReadonlyMap<string, string>;
  onChange: (values: ReadonlyMap<string, string>) => void;
}

function Fields({ fields, values, onChange }: FieldsProps) {
  if (fields.length === 0) return <p>This workflow asks for no input.</p>;
  return fields.map((field) => (
    <RunFieldControl
      key={field.id}
      field={field}
      value={values.get(field.id) ?? field.start}
      onChange={(value) => onChange(new Map(values).set(field.id, value))}
    />
  ));
}

/** Returns undefined if the text is no JSON. An empty text is an empty input. */
function parse(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Says why a run was not started, by node and field. */
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
