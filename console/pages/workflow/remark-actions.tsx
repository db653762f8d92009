import { useState } from 'react';
import { useParams } from 'wouter';
import { withoutRemark } from '../../drawing/remarks.js';
import { useStore } from '../../drawing/editor-store.js';
import type { Problem } from '../../drawing/problem.js';
import { ScheduleDialog } from '../../parts/starts/schedule-dialog.js';
import { Button, ButtonLink } from '../../ui/button.js';
import { announce } from '../../ui/notices.js';

interface RemarkActionsProps {
  problem: Problem;
  /** Selects the node and focuses the field of the problem. */
  onLead: () => void;
}

const FIELD_WORDS: Readonly<Record<string, string>> = {
  connection: 'Choose the connection',
  'settings.model_name': 'Choose the model',
  workflow_id: 'Choose the workflow',
};

/** Buttons that resolve a remark of an import, and `Done`, which removes the remark as one step of Undo. */
export function RemarkActions({ problem: { remark, message }, onLead }: RemarkActionsProps) {
  const store = useStore();
  const { id: workflow = '' } = useParams();
  const [isOpen, setIsOpen] = useState(false);
  if (remark === undefined || store.isReadOnly) return null;
  const { id, fix } = remark;
  const settle = (): void => {
    store.change(withoutRemark(store.drawing, id));
    announce('The remark is settled.');
  };
  return (
    <span className="problems-actions">
      {fix !== undefined && 'field' in fix && (
        <Button onClick={onLead}>{FIELD_WORDS[fix.field] ?? 'Show the field'}</Button>
      )}
      {fix !== undefined && 'schedule' in fix && <Button onClick={() => setIsOpen(true)}>Make this schedule</Button>}
      {fix !== undefined && 'hook' in fix && <ButtonLink to={`/workflows/${workflow}/starts`}>Make a hook</ButtonLink>}
      <Button variant="quiet" aria-label={`Done: ${message}`} onClick={settle}>
        Done
      </Button>
      {isOpen && fix !== undefined && 'schedule' in fix && (
        <ScheduleDialog
          workflowId={Number(workflow)}
          cron={fix.schedule}
          onClose={() => setIsOpen(false)}
          onMade={settle}
        />
      )}
    </span>
  );
}
