import { useState } from 'react';
import { labelOf, nodesOf, typeOf } from '../../../drawing/drawing.js';
import { useStore } from '../../../drawing/editor-store.js';
import { Problem } from '../../../service/problem.js';
import { submitHandler } from '../../../service/queries.js';
import { MASK } from '../../../../graph/mask-text.js';
import { isObject, type JsonObject } from '../../../../graph/json.js';
import { parseExact, toText } from '../../../ui/json.js';
import { Button } from '../../../ui/button.js';
import { Dialog } from '../../../ui/dialog.js';
import { TextField } from '../../../ui/fields.js';
import { exampleOf } from './pin-example.js';
import { contentOfPin, toPinBody, useChangePin } from './test-calls.js';
import type { Pin } from './test-store.js';
import { useTest, useTests } from './use-tests.js';

interface PinDialogProps {
  workflowId: number;
  pins: readonly Pin[];
  nodeId: string;
}

/**
 * Edits the pin of a node: the result that tests use instead of executing the node. Without a pin, begins with the last
 * result of the node if the node succeeded, else with an example made from its output schema.
 */
export function PinDialog({ workflowId, pins, nodeId }: PinDialogProps) {
  const { drawing, kinds } = useStore();
  const tests = useTests();
  const node = nodesOf(drawing).get(nodeId);
  const shown = useTest((state) => state.results.get(nodeId));
  const path = shown?.entry.path ?? '';
  const own = pins.filter((pin) => pin.node_id === nodeId);
  const pin = own.find((each) => each.path === path) ?? own[0];
  const [text, setText] = useState(() => {
    const result = shown?.entry.status === 'succeed' && isObject(shown.entry.result) ? shown.entry.result : undefined;
    const example = exampleOf(kinds.get(node === undefined ? '' : typeOf(node))?.output_schema);
    return toText(pin === undefined ? (result ?? example) : contentOfPin(pin));
  });
  const onClose = (): void => tests.editPin(undefined);
  const change = useChangePin(workflowId, { nodeId, path: pin?.path ?? path }, onClose);
  const written = parse(text);
  const save = { isPending: change.isPending, mutate: () => written && change.mutate(toPinBody(written)) };
  return (
    <Dialog title={`Pin of ${labelOf(node, kinds)}`} holdsText isWide onClose={onClose}>
      <form className="test-form" onSubmit={submitHandler(save)}>
        <TextField
          label="Pinned result"
          hint={
            text.includes(MASK)
              ? 'A secret is masked here. It is stored as it is written: write it anew.'
              : 'A result has its text in `content`. An `error` with `code` and `message` lets the node fail.'
          }
          rows={14}
          spellCheck={false}
          value={text}
          onChange={setText}
          error={written === undefined ? 'This is no JSON object yet.' : undefined}
        />
        <Problem error={change.error} />
        <Button type="submit" variant="primary" isBusy={change.isPending} disabled={written === undefined}>
          Save pin
        </Button>
      </form>
    </Dialog>
  );
}

function parse(text: string): JsonObject | undefined {
  try {
    const value = parseExact(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
