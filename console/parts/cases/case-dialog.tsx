import { useState } from 'react';
import { fieldErrors } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { submitHandler, useChange } from '../../service/queries.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextField } from '../../ui/fields.js';
import { Note } from '../../ui/notices.js';
import type { Case, Expectation } from './case-calls.js';
import { Expectations, toExpectations, toRows, type ExpectationRow } from './expectations.js';

interface CaseDialogProps {
  title: string;
  hint?: string;
  /** Initial values of the dialog. */
  name: string;
  expect: readonly Expectation[];
  labels: ReadonlyMap<string, string>;
  /** `expect` is undefined if the expectations are unchanged. */
  save: (change: { name: string; expect: Expectation[] | undefined }) => Promise<Case>;
  /** Announcement for screen readers after saving. */
  announcement: string;
  onClose: () => void;
}

/** Edits the name of a case and the expectations on its run. */
export function CaseDialog({ title, hint, labels, save, announcement, onClose, ...initial }: CaseDialogProps) {
  const [name, setName] = useState(initial.name);
  const [first] = useState(() => toRows(initial.expect));
  const [rows, setRows] = useState<readonly ExpectationRow[]>(first);
  const change = useChange(
    () => save({ name: name.trim(), expect: rows === first ? undefined : toExpectations(rows) }),
    { invalidates: ['cases'], announcement, onSuccess: onClose },
  );
  return (
    <Dialog title={title} holdsText isWide onClose={onClose}>
      <form
        className="case-form"
        onSubmit={submitHandler({ isPending: change.isPending, mutate: () => change.mutate() })}
      >
        {hint !== undefined && <Note>{hint}</Note>}
        <TextField
          label="Name"
          isRequired
          maxLength={200}
          value={name}
          onChange={setName}
          error={fieldErrors(change.error)['name']}
        />
        <Expectations rows={rows} labels={labels} onChange={setRows} />
        <Problem error={change.error} fields={['name']} />
        <Button type="submit" variant="primary" isBusy={change.isPending} disabled={name.trim() === ''}>
          Save case
        </Button>
      </form>
    </Dialog>
  );
}
