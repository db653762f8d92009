import { useState } from 'react';
import { explain, fieldErrors } from '../../app/explain.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextField } from '../../ui/fields.js';
import { Alert } from '../../ui/notices.js';
import type { Saver } from './saver.js';
import { useAction } from './use-action.js';

/** What a run of the workflow may cost. */
export function RunLimitDialog({ saver, onClose }: { saver: Saver; onClose: () => void }) {
  const [amount, setAmount] = useState(saver.getState().workflow.max_run_cost ?? '');
  const change = useAction(async () => {
    await saver.changeDetails({ max_run_cost: amount.trim() === '' ? null : amount.trim() });
    onClose();
  });
  const { max_run_cost: amountError } = fieldErrors(change.error);
  return (
    <Dialog title="Limit the cost of runs" onClose={onClose}>
      <form
        className="node-form"
        onSubmit={(event) => {
          event.preventDefault();
          void change.run();
        }}
      >
        <TextField
          label="Most that a run may cost, in USD"
          hint="The runs that it starts count too. Empty: no limit."
          value={amount}
          onChange={setAmount}
          inputMode="decimal"
          error={amountError}
        />
        {change.error !== undefined && amountError === undefined && <Alert>{explain(change.error)}</Alert>}
        <Button type="submit" variant="primary" isBusy={change.isRunning}>
          Save
        </Button>
      </form>
    </Dialog>
  );
}
