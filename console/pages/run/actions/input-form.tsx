import { useState } from 'react';
import { Button } from '../../../ui/button.js';
import { Dialog } from '../../../ui/dialog.js';
import { TextField } from '../../../ui/fields.js';
import { parseExact } from '../../../drawing/json.js';
import type { RunDetail } from '../run-data.js';
import { Refused } from './refused.js';
import { useReRun } from './use-re-run.js';

interface InputFormProps {
  run: RunDetail;
  labels: ReadonlyMap<string, string>;
  /** The run's input as JSON text. */
  initial: string;
  onClose: () => void;
}

export function InputForm({ run, labels, initial, onClose }: InputFormProps) {
  const [text, setText] = useState(initial);
  const [problem, setProblem] = useState<string>();
  const again = useReRun(run);
  const start = (): void => {
    const input = parse(text);
    setProblem(input === undefined ? 'This is not JSON. Texts need quotation marks.' : undefined);
    if (input !== undefined) again.mutate({ input: input.value }, { onSuccess: onClose });
  };
  return (
    <Dialog
      title="Run workflow"
      onClose={onClose}
      isWide
      holdsText
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" isBusy={again.isPending} onClick={start}>
            Start run
          </Button>
        </>
      }
    >
      <p>The workflow runs as it is now.</p>
      <TextField
        label="Input (JSON)"
        rows={14}
        value={text}
        onChange={setText}
        spellCheck={false}
        error={problem}
        hint="What stands as ******** is secret: leave it to use the value of this run."
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) start();
        }}
      />
      {again.isError && <Refused error={again.error} labels={labels} onRetry={start} />}
    </Dialog>
  );
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: parseExact(text) };
  } catch {
    return undefined;
  }
}
