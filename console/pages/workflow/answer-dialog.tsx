import { useState } from 'react';
import { bodiesOf } from '../../drawing/bodies.js';
import { isWriter, labelOf, nodesOf, typeOf, type Drawing, type NodeKinds } from '../../drawing/drawing.js';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { asObject, asText } from '../../ui/json.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField } from '../../ui/fields.js';
import { useStored } from '../../ui/store.js';
import { useCheck } from './check.js';
import type { Saver } from './saver.js';

/**
 * Selects the node whose text is streamed: `settings.answer_node`. A chat shows this text while a model writes it, and
 * the run's output afterwards. A streamed chat completion consists of this text.
 */
export function AnswerDialog({ saver, onClose }: { saver: Saver; onClose: () => void }) {
  const store = useStore();
  const isDirty = useEditor((state) => state.isDirty);
  const { id } = useStored(saver, (state) => state.workflow);
  const etag = useStored(saver, (state) => state.etag);
  const check = useCheck({ id, etag }, !isDirty);
  const { kinds } = store;
  const drawing = useEditor(({ history }) => history.present);
  const [chosen, setChosen] = useState(asText(asObject(drawing['settings'])['answer_node']) ?? '');
  const label = (nodeId: string): string => labelOf(nodesOf(drawing).get(nodeId), kinds);
  const usual = isDirty || check.data === undefined ? undefined : (check.data.default_answer_nodes ?? []);
  const apply = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    store.change(withAnswerNode(drawing, chosen));
    onClose();
  };
  return (
    <Dialog title="Node that answers" onClose={onClose}>
      <form className="node-form" onSubmit={apply}>
        <SelectField
          label="Answered by"
          hint="A chat with the workflow shows what this node writes while it comes. The answer itself is the output."
          value={chosen}
          onChange={setChosen}
          options={[
            { value: '', label: byDefault(usual?.map(label)) },
            ...writersOf(drawing, kinds).map((nodeId) => ({ value: nodeId, label: label(nodeId) })),
          ]}
        />
        <Button type="submit" variant="primary">
          Apply
        </Button>
      </form>
    </Dialog>
  );
}

function byDefault(usual: readonly string[] | undefined): string {
  if (usual === undefined) return 'By default';
  return `By default: ${usual.length === 0 ? 'none, the output comes as a whole' : usual.join(' or ')}`;
}

/** Returns the ids of the nodes outside loops whose results come from models. */
function writersOf(drawing: Drawing, kinds: NodeKinds): string[] {
  const { loopOf } = bodiesOf(drawing, kinds);
  const nodes = [...nodesOf(drawing).values()];
  return nodes.filter((node) => isWriter(kinds.get(typeOf(node))) && !loopOf.has(node.id)).map((node) => node.id);
}

function withAnswerNode(drawing: Drawing, nodeId: string): Drawing {
  const { answer_node: before, ...others } = asObject(drawing['settings']);
  if ((before ?? '') === nodeId) return drawing;
  if (nodeId !== '') return { ...drawing, settings: { ...others, answer_node: nodeId } };
  const { settings: _, ...rest } = drawing;
  return Object.keys(others).length === 0 ? rest : { ...rest, settings: others };
}
