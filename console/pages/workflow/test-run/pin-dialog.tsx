import { useState } from 'react';
import { Problem } from '../../../service/problem.js';
import { submits } from '../../../service/queries.js';
import { MASK } from '../../../../graph/mask-text.js';
import { isObject, type JsonObject } from '../../../../graph/json.js';
import { parseExact, toText } from '../../../ui/json.js';
import { Button } from '../../../ui/button.js';
import { Dialog } from '../../../ui/dialog.js';
import { TextField } from '../../../ui/fields.js';
import { contentOfPin, toPinBody, useChangePin } from './test-calls.js';
import type { Pin } from './test-store.js';

interface PinDialogProps {
  workflowId: number;
  pin: Pin;
  label: string;
  onClose: () => void;
}

export function PinDialog({ workflowId, pin, label, onClose }: PinDialogProps) {
  const [text, setText] = useState(() => toText(contentOfPin(pin)));
  const change = useChangePin(workflowId, { nodeId: pin.node_id, path: pin.path }, onClose);
  const written = parse(text);
  const save = { isPending: change.isPending, mutate: () => written && change.mutate(toPinBody(written)) };
  return (
    <Dialog title={`Pin of ${label}`} holdsText isWide onClose={onClose}>
      <form className="test-form" onSubmit={submits(save)}>
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
