import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { explain, fieldErrors } from '../../app/explain.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextField } from '../../ui/fields.js';
import { Alert } from '../../ui/notices.js';
import type { Saver } from './saver.js';
import { useAction } from './use-action.js';

export function RenameDialog({ saver, onClose }: { saver: Saver; onClose: () => void }) {
  const [title, setTitle] = useState(saver.getState().workflow.title);
  const queries = useQueryClient();
  const rename = useAction(async () => {
    await saver.changeDetails({ title: title.trim() });
    void queries.invalidateQueries({ queryKey: ['workflows'] });
    onClose();
  });
  const { title: titleError } = fieldErrors(rename.error);
  return (
    <Dialog title="Rename workflow" onClose={onClose}>
      <form
        className="node-form"
        onSubmit={(event) => {
          event.preventDefault();
          void rename.run();
        }}
      >
        <TextField label="Title" value={title} onChange={setTitle} isRequired maxLength={255} error={titleError} />
        {rename.error !== undefined && titleError === undefined && <Alert>{explain(rename.error)}</Alert>}
        <Button type="submit" variant="primary" isBusy={rename.isRunning}>
          Rename
        </Button>
      </form>
    </Dialog>
  );
}
