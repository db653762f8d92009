import { useRef } from 'react';
import { FormContext, type SchemaFieldProps } from '../../forms/form.js';
import { insertText, useLastField, VariablePicker } from '../../forms/variable-picker.js';
import type { Path } from '../../forms/schema.js';
import { followHandles, setData } from '../../drawing/change-drawing.js';
import { dataOf, isStart, nodesOf, startOf, typeOf, type DrawnNode } from '../../drawing/drawing.js';
import { setAt, valueAt } from '../../drawing/links.js';
import { asText, isObject, type JsonObject } from '../../drawing/json.js';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { variablesFor } from '../../drawing/variables.js';
import { KindForm } from '../../kinds/kind-form.js';
import { Button } from '../../ui/button.js';
import { Hint, TextField } from '../../ui/fields.js';
import { Connections, ListedLinks } from './connections.js';
import { EmptyPanel } from './empty-panel.js';
import './node-panel.css';
import { removeSelection } from './remove-selection.js';
import { useNodeErrors } from './use-node-errors.js';
import { WORKFLOW_ID, WorkflowField } from './workflow-field.js';

/** The form of the node that is selected. `projectId`: that of the workflow. */
export function NodePanel({ projectId }: { projectId: number }) {
  const selection = useEditor((state) => state.selection);
  const [only] = selection.nodes.size === 1 && selection.links.size === 0 ? selection.nodes : [];
  const node = useEditor(({ history }) => (only === undefined ? undefined : nodesOf(history.present).get(only)));
  return (
    <section className="node-panel" aria-label="Node">
      {node === undefined ? <EmptyPanel /> : <NodeForm key={node.id} node={node} projectId={projectId} />}
    </section>
  );
}

function NodeForm({ node, projectId }: { node: DrawnNode; projectId: number }) {
  const store = useStore();
  const form = useRef<HTMLFieldSetElement>(null);
  const lastField = useLastField(form, store.endGesture);
  const kind = store.kinds.get(typeOf(node));
  const data = dataOf(node);
  const fieldOf = (format: string, props: SchemaFieldProps) =>
    format === WORKFLOW_ID ? <WorkflowField projectId={projectId} {...props} /> : undefined;
  const change = (path: Path, value: unknown): void => {
    const next = value === undefined ? removeAt(data, path) : setAt(data, path, value);
    const changed = setData(store.drawing, node.id, next as JsonObject);
    const isStep = isRearranged(valueAt(data, path), value);
    store.change(
      followHandles(store.drawing, changed, store.kinds, node.id),
      isStep ? {} : { gesture: `${node.id}:${path.join('.')}` },
    );
  };
  return (
    <fieldset className="node-form" ref={form} disabled={store.isReadOnly}>
      <TextField label="Label" value={asText(data['label']) ?? ''} onChange={(label) => change(['label'], label)} />
      <div className="node-form-kind">
        <Hint>{kind?.description ?? 'The service does not know this kind of node.'}</Hint>
        {!isStart(kind) && (
          <VariablePicker
            groups={() => variablesFor(store.drawing, store.kinds, node.id)}
            onChoose={(text) => {
              const field = lastField();
              if (field !== undefined) insertText(field, text);
            }}
          />
        )}
      </div>
      <FormContext value={{ isReadOnly: store.isReadOnly, errors: useNodeErrors(node.id), fieldOf }}>
        {kind !== undefined && (
          <KindForm
            kind={kind}
            data={data}
            renderTargets={(path) => <ListedLinks node={node} path={path} />}
            onChange={change}
          />
        )}
      </FormContext>
      <Connections node={node} />
      <Foot node={node} />
    </fieldset>
  );
}

function Foot({ node }: { node: DrawnNode }) {
  const store = useStore();
  const start = useEditor(({ history }) => startOf(history.present));
  if (store.isReadOnly) return null;
  return (
    <div className="node-form-foot">
      {start !== node.id && (
        <Button onClick={() => store.change({ ...store.drawing, start_node: node.id })}>Begin here</Button>
      )}
      <Button variant="danger" onClick={() => removeSelection(store)}>
        Delete node
      </Button>
    </div>
  );
}

/** Items that were added, moved or taken out are a step of Undo each; typing in one goes on with its step. */
function isRearranged(before: unknown, after: unknown): boolean {
  if (!Array.isArray(before) || !Array.isArray(after)) return false;
  return before.length !== after.length || after.every((item) => before.includes(item));
}

/** A copy of JSON without the value at a path. */
function removeAt(value: JsonObject, path: Path): JsonObject {
  const [last, ...upwards] = path.toReversed();
  const parent = upwards.toReversed();
  const owner = parent.reduce<unknown>((current, part) => {
    return typeof current === 'object' && current !== null
      ? (current as Record<string | number, unknown>)[part]
      : undefined;
  }, value);
  if (!isObject(owner) || !Object.hasOwn(owner, String(last))) return value;
  const { [String(last)]: _gone, ...rest } = owner;
  return setAt(value, parent, rest) as JsonObject;
}
